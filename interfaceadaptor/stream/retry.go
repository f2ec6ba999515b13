package stream

import (
	"context"
	"math/rand/v2"
	"time"
)

const (
	minBackoff = 100 * time.Millisecond
	maxBackoff = 5 * time.Second
)

// Backoff is how long to wait after so many failures in a row, 1 or more: up to 100 ms after the first, twice as long
// after each, up to 5 s. It is a random point in the upper half of that, so that what failed together does not come back
// together.
func Backoff(failures int) time.Duration {
	ceiling := min(minBackoff<<min(failures-1, 10), maxBackoff)
	return ceiling/2 + rand.N(ceiling/2)
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

// Persist calls do until it succeeds, backing off between failures, each of which it reports. It fails only when ctx
// ends.
func Persist(ctx context.Context, report func(error), do func(context.Context) error) error {
	for failures := 1; ; failures++ {
		err := do(ctx)
		if err == nil {
			return nil
		}
		if ctx.Err() == nil {
			report(err)
		}
		if !Pause(ctx, Backoff(failures)) {
			return ctx.Err()
		}
	}
}
