package main

import (
	"context"
	"errors"
	"time"
)

const parentInterval = 500 * time.Millisecond

var errOrphaned = errors.New("the process that started this one is gone")

// withParent ends the context when the parent process dies, so that the services of a test run do
// not outlive it. getppid is os.Getppid: an orphan gets another parent.
func withParent(ctx context.Context, getppid func() int) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	parent := getppid()
	go func() {
		ticker := time.NewTicker(parentInterval)
		defer ticker.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
				if getppid() != parent {
					cancel(errOrphaned)
				}
			}
		}
	}()
	return ctx, func() { cancel(nil) }
}
