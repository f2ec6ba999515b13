package awsclient

import (
	"errors"
	"io"
	"math/rand/v2"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
)

const (
	maxAttempts = 5
	minBackoff  = 25 * time.Millisecond
	maxBackoff  = 400 * time.Millisecond
)

// newRetryer retries transient errors (lost connections, 5xx, throttling) four times within about a second. The SDK's
// default backoff waits up to 2 s and then 4 s. Its MaxBackoff does not help: below one second it gives a constant
// delay without jitter. So this package has its own backoff.
//
// The SDK's retry quota stays active: when everything fails, most calls fail at once instead of multiplying the load.
func newRetryer() aws.Retryer {
	return retry.NewStandard(func(o *retry.StandardOptions) {
		o.MaxAttempts = maxAttempts
		o.Backoff = retry.BackoffDelayerFunc(backoff)
		o.Retryables = append(o.Retryables, retry.IsErrorRetryableFunc(answerCutShort))
	})
}

// backoff doubles from minBackoff to maxBackoff and returns a random point in the upper half, so that clients that
// failed together do not retry together.
func backoff(attempt int, _ error) (time.Duration, error) {
	ceiling := maxBackoff
	if doubled := minBackoff << min(attempt, 10); doubled < ceiling {
		ceiling = doubled
	}
	return ceiling/2 + rand.N(ceiling/2), nil
}

// answerCutShort detects a connection that broke within an answer. The SDK takes it for an answer that cannot be parsed
// and does not retry it.
func answerCutShort(err error) aws.Ternary {
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		return aws.TrueTernary
	}
	return aws.UnknownTernary
}
