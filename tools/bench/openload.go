package main

import (
	"context"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"example.com/threads/es"
)

// openLoad makes calls at fixed times, so many per second, whether or not earlier ones have ended. It returns the time
// from when each was due until it ended. So a server that stalls delays each call that was due meanwhile; a client that
// waits for an answer before it sends again would leave these out (coordinated omission).
func openLoad(ctx context.Context, rate float64, duration time.Duration, callers int, call func(ctx context.Context, caller int) error) ([]time.Duration, error) {
	begun := time.Now()
	took := make([]time.Duration, max(1, int(rate*duration.Seconds())))
	var taken atomic.Int64
	group, ctx := errgroup.WithContext(ctx)
	for caller := range callers {
		group.Go(func() error {
			for {
				n := int(taken.Add(1)) - 1
				if n >= len(took) {
					return nil
				}
				due := begun.Add(time.Duration(float64(n) / rate * float64(time.Second)))
				if err := es.Wait(ctx, time.Until(due)); err != nil {
					return err
				}
				if err := call(ctx, caller); err != nil {
					return err
				}
				took[n] = time.Since(due)
			}
		})
	}
	return took, group.Wait()
}
