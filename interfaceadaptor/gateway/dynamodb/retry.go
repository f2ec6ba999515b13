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

// errLeftOver says that DynamoDB kept answering only a part of what was asked for, for want of capacity.
var errLeftOver = errors.New("DynamoDB left a part of the request unprocessed")

// retryContended repeats what other writers, or too little capacity, got in the way of, and nothing else. It gives up
// after contentionAttempts, about half a second, or when ctx ends.
func retryContended(ctx context.Context, try func() error) error {
	for attempt := 1; ; attempt++ {
		err := try()
		if err == nil || !contended(err) || attempt == contentionAttempts || !pause(ctx, attempt) {
			return err
		}
	}
}

// pause waits for tens of milliseconds, longer after each attempt, at random, so that those who met do not meet again.
// It is false when ctx ended meanwhile.
func pause(ctx context.Context, attempt int) bool {
	longest := min(minPause<<min(attempt-1, 10), maxPause)
	return wait(ctx, longest/2+rand.N(longest/2))
}

// wait is false when ctx ended meanwhile.
func wait(ctx context.Context, duration time.Duration) bool {
	timer := time.NewTimer(duration)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
