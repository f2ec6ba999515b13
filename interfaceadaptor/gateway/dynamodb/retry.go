package dynamodb

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"
)

const (
	contentionAttempts = 8
	minPause           = 10 * time.Millisecond
	maxPause           = 160 * time.Millisecond
)

// errUnprocessed: DynamoDB kept answering only part of a request because of low capacity.
var errUnprocessed = errors.New("DynamoDB left a part of the request unprocessed")

// retryContended retries try after contended errors only. It gives up after contentionAttempts, about half a second, or
// when ctx ends.
func retryContended(ctx context.Context, try func() error) error {
	for attempt := 1; ; attempt++ {
		err := try()
		if err == nil || !contended(err) || attempt == contentionAttempts || !pause(ctx, attempt) {
			return err
		}
	}
}

// pause waits for a random time of tens of milliseconds that grows with each attempt, so that writers in conflict do
// not collide again. It returns false when ctx has ended.
func pause(ctx context.Context, attempt int) bool {
	longest := min(minPause<<min(attempt-1, 10), maxPause)
	return wait(ctx, longest/2+rand.N(longest/2))
}

// wait waits for the duration. It returns false when ctx has ended.
func wait(ctx context.Context, duration time.Duration) bool {
	select {
	case <-time.After(duration):
		return true
	case <-ctx.Done():
		return false
	}
}
