package es

import (
	"context"
	"math/rand/v2"
	"time"
)

// Wait waits for the duration. If ctx ends first, it returns ctx's cause at once.
func Wait(ctx context.Context, duration time.Duration) error {
	select {
	case <-time.After(duration):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Backoff returns the pause after a failure that followed on so many others: first, doubled by each of those, at most
// longest. Up to half of it is taken off at random, so that those who failed together do not retry together. It is for
// retries that are scheduled from a stored number of failures; loops use package backoff.
func Backoff(first, longest time.Duration, failures int) time.Duration {
	pause := min(first<<min(failures, 10), longest)
	return pause - rand.N(pause/2)
}
