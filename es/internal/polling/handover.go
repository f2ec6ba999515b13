package polling

import (
	"context"
	"fmt"
	"runtime/debug"
	"time"

	"example.com/threads/es/projection"
)

// HandOver projects a batch. When ctx ends, the batch may continue for the grace period. A panic becomes an error,
// because it may be transient and must not crash the program.
func HandOver(ctx context.Context, to projection.Sink, batch projection.Batch, grace time.Duration) (err error) {
	work, cancel := outlive(ctx, grace)
	defer cancel()
	defer func() {
		if reason := recover(); reason != nil {
			err = fmt.Errorf("panic while projecting: %v\n%s", reason, debug.Stack())
		}
	}()
	_, err = to.Project(work, batch)
	return err
}

// outlive returns a context that ends when grace has passed after the end of ctx.
func outlive(ctx context.Context, grace time.Duration) (context.Context, context.CancelFunc) {
	work, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		if Pause(work, grace) {
			cancel()
		}
	})
	return work, func() { stop(); cancel() }
}
