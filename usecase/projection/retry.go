package projection

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"
)

const (
	retryPause        = 5 * time.Millisecond
	longestRetryPause = time.Second
)

// retry calls try until it succeeds, fails for a reason that does not pass, or has had its attempts.
func (p *Projector) retry(ctx context.Context, try func() error) error {
	for attempt := 1; ; attempt++ {
		err := try()
		if err == nil || !errors.Is(err, ErrTransient) {
			return err
		}
		if attempt >= p.options.Attempts {
			return fmt.Errorf("given up after %d attempts: %w", attempt, err)
		}
		p.logger.DebugContext(ctx, "the read model is tried again", "attempt", attempt, "error", err)
		if waitErr := wait(ctx, pauseBefore(attempt, retryPause, longestRetryPause)); waitErr != nil {
			return waitErr
		}
	}
}

// pauseBefore is the pause after a number of attempts: it doubles from first to longest, less up to a half by chance,
// so that those who failed together do not meet again.
func pauseBefore(attempts int, first, longest time.Duration) time.Duration {
	pause := longest
	if doublings := attempts - 1; doublings < 20 {
		pause = min(first<<doublings, longest)
	}
	return pause - rand.N(pause/2)
}

func wait(ctx context.Context, pause time.Duration) error {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
