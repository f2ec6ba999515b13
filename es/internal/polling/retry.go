package polling

import (
	"context"
	"time"

	"github.com/cenkalti/backoff/v5"

	"example.com/threads/es"
)

// NewBackoff returns the backoff for repeated failures: 100 ms, doubling up to 5 s, each with jitter, so that sources
// that fail together do not retry together.
func NewBackoff() *backoff.ExponentialBackOff {
	return &backoff.ExponentialBackOff{InitialInterval: 100 * time.Millisecond, MaxInterval: 5 * time.Second, Multiplier: 2, RandomizationFactor: 0.25}
}

// Retry calls do until it succeeds, with backoff, and reports each failure. It only fails when ctx ends.
func Retry(ctx context.Context, report func(error), do func(context.Context) error) error {
	tried := func() (struct{}, error) { return struct{}{}, do(ctx) }
	notify := func(err error, _ time.Duration) { report(err) }
	_, err := backoff.Retry(ctx, tried, backoff.WithBackOff(NewBackoff()), backoff.WithMaxElapsedTime(0), backoff.WithNotify(notify))
	return err
}

// Pause waits and returns whether ctx is still active.
func Pause(ctx context.Context, wait time.Duration) bool {
	return es.Wait(ctx, wait) == nil && ctx.Err() == nil
}
