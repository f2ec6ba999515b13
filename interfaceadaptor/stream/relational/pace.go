package relational

import (
	"context"
	"math/rand/v2"
	"time"
)

// follow is how long the queue is polled every PollMin after its last event, before the waits grow.
const follow = 500 * time.Millisecond

// pace tells how long to wait between two polls: PollMin while events come and a little longer, then twice as long after
// each empty page, up to PollMax.
type pace struct {
	min, max time.Duration
	wait     time.Duration
	busy     time.Time // when there last was something
}

func (p *pace) next(found bool, now time.Time) time.Duration {
	switch {
	case found:
		p.busy, p.wait = now, p.min
	case now.Sub(p.busy) < follow:
		p.wait = p.min
	default:
		p.wait = min(max(2*p.wait, p.min), p.max)
	}
	return p.wait
}

const (
	minBackoff = 50 * time.Millisecond
	maxBackoff = 5 * time.Second
)

// backoff is how long to wait after so many failures in a row: doubling from minBackoff to maxBackoff, and a random
// point in its upper half.
func backoff(failures int) time.Duration {
	ceiling := min(minBackoff<<min(failures, 10), maxBackoff)
	return ceiling/2 + rand.N(ceiling/2)
}

// pause waits, and tells whether ctx is still alive.
func pause(ctx context.Context, wait time.Duration) bool {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return ctx.Err() == nil
	case <-ctx.Done():
		return false
	}
}

// persist calls do until it succeeds, backing off between failures, each of which it reports. It is false when ctx
// ended first.
func persist(ctx context.Context, report func(error), do func() error) bool {
	for failures := 1; ; failures++ {
		err := do()
		if err == nil {
			return true
		}
		if ctx.Err() == nil {
			report(err)
		}
		if !pause(ctx, backoff(failures)) {
			return false
		}
	}
}

// outlive returns a context that ends a while after ctx has.
func outlive(ctx context.Context, grace time.Duration) (context.Context, context.CancelFunc) {
	work, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		if pause(work, grace) {
			cancel()
		}
	})
	return work, func() { stop(); cancel() }
}
