package projection

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cenkalti/backoff/v5"
)

const (
	retryPause        = 5 * time.Millisecond
	longestRetryPause = time.Second
	// between the attempts on a parked aggregate
	parkedPause        = time.Second
	longestParkedPause = 5 * time.Minute
)

// retryPauses returns the pauses between two attempts.
func retryPauses() *backoff.ExponentialBackOff {
	return &backoff.ExponentialBackOff{
		InitialInterval: retryPause, MaxInterval: longestRetryPause, Multiplier: 2, RandomizationFactor: 0.5,
	}
}

// retry calls try until it succeeds, fails with an error other than ErrTransient, or has used its attempts.
func (p *Projector) retry(ctx context.Context, try func() error) error {
	_, err := backoff.Retry(ctx, func() (struct{}, error) {
		err := try()
		if err != nil && !errors.Is(err, ErrTransient) {
			err = backoff.Permanent(err)
		}
		return struct{}{}, err
	}, backoff.WithBackOff(retryPauses()), backoff.WithMaxTries(uint(p.options.Attempts)), backoff.WithMaxElapsedTime(0))
	if errors.Is(err, ErrTransient) {
		return fmt.Errorf("given up after %d attempts: %w", p.options.Attempts, err)
	}
	return err
}
