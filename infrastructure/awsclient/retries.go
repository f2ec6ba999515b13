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

// newRetryer retries what a second attempt can cure - lost connections, 5xx, throttling - four times within about a
// second. The SDK's default waits up to 2 s and then 4 s, and its MaxBackoff is no way out: below one second it
// becomes a constant delay without jitter. So the backoff is our own.
//
// The SDK's retry quota stays: when everything fails, most calls fail at once instead of multiplying the load.
func newRetryer() aws.Retryer {
	return retry.NewStandard(func(o *retry.StandardOptions) {
		o.MaxAttempts = maxAttempts
		o.Backoff = retry.BackoffDelayerFunc(backoff)
		o.Retryables = append(o.Retryables, retry.IsErrorRetryableFunc(answerCutShort))
	})
}

// backoff doubles from minBackoff to maxBackoff and takes a random point in the upper half: late enough to be of use,
// and spread so that clients that failed together do not return together.
func backoff(attempt int, _ error) (time.Duration, error) {
	ceiling := maxBackoff
	if doubled := minBackoff << min(attempt, 10); doubled < ceiling {
		ceiling = doubled
	}
	return ceiling/2 + rand.N(ceiling/2), nil
}

// answerCutShort knows the connection that broke inside an answer, which the SDK takes for an answer that can't be
// parsed and does not retry.
func answerCutShort(err error) aws.Ternary {
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		return aws.TrueTernary
	}
	return aws.UnknownTernary
}
