package usecase

import (
	"context"
	"time"
)

// Wait waits for the duration. If ctx ends first, it returns ctx's cause at once.
func Wait(ctx context.Context, duration time.Duration) error {
	timer := time.NewTimer(duration)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
