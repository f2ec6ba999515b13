package stream

import (
	"context"
	"time"

	"github.com/cenkalti/backoff/v5"
)

// NewBackoff gives the waits after failures in a row: 100 ms at first, twice as long after each, up to 5 s; each is a
// random time around that, so that what failed together does not come back together.
func NewBackoff() *backoff.ExponentialBackOff {
	return &backoff.ExponentialBackOff{InitialInterval: 100 * time.Millisecond, MaxInterval: 5 * time.Second, Multiplier: 2, RandomizationFactor: 0.25}
}

// Retry calls do until it succeeds, backing off between failures, each of which it reports. It fails only when ctx
// ends.
func Retry(ctx context.Context, report func(error), do func(context.Context) error) error {
	tried := func() (struct{}, error) { return struct{}{}, do(ctx) }
	tell := func(err error, _ time.Duration) { report(err) }
	_, err := backoff.Retry(ctx, tried, backoff.WithBackOff(NewBackoff()), backoff.WithMaxElapsedTime(0), backoff.WithNotify(tell))
	return err
}

// Pause waits, and tells whether ctx is still alive.
func Pause(ctx context.Context, wait time.Duration) bool {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return ctx.Err() == nil
	case <-ctx.Done():
		return false
	}
}
