package dynamodb

import (
	"context"
	"errors"
	"time"

	"github.com/cenkalti/backoff/v5"
)

const contentionAttempts = 8

// pauses returns the pauses between attempts: tens of milliseconds that grow, with jitter, so that writers in conflict
// do not collide again.
func pauses() *backoff.ExponentialBackOff {
	return &backoff.ExponentialBackOff{
		InitialInterval: 8 * time.Millisecond, MaxInterval: 120 * time.Millisecond, Multiplier: 2, RandomizationFactor: 0.33,
	}
}

// errUnprocessed: DynamoDB kept answering only part of a request because of low capacity.
var errUnprocessed = errors.New("DynamoDB left a part of the request unprocessed")

// retryContended retries try after contended errors only. It gives up after contentionAttempts, about half a second, or
// when ctx ends, and returns the last error.
func retryContended(ctx context.Context, try func() error) (err error) {
	_, _ = backoff.Retry(ctx, func() (struct{}, error) {
		if err = try(); err != nil && !contended(err) {
			return struct{}{}, backoff.Permanent(err)
		}
		return struct{}{}, err
	}, backoff.WithBackOff(pauses()), backoff.WithMaxTries(contentionAttempts))
	return err
}
