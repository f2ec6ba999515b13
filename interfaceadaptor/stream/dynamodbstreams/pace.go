package dynamodbstreams

import (
	"context"
	"math/rand/v2"
	"time"
)

// pace tells how long to wait between two polls: PollMin while records come and a little longer, then twice as long after
// each empty page, up to PollMax.
type pace struct {
	min, max time.Duration
	wait     time.Duration
	found    time.Time // when records last came
}

func (p *pace) next(records, limit int, now time.Time) time.Duration {
	switch {
	case records >= limit:
		p.found, p.wait = now, p.min
		return 0 // more is waiting
	case records > 0:
		p.found, p.wait = now, p.min
	case p.wait == 0 || now.Sub(p.found) < follow:
		p.wait = p.min
	default:
		p.wait = min(2*p.wait, p.max)
	}
	return p.wait
}

const (
	minBackoff = 50 * time.Millisecond
	maxBackoff = 5 * time.Second
)

// backoff is how long to wait after so many failures in a row: doubling from minBackoff to maxBackoff, and a random
// point in its upper half, so that what failed together does not come back together.
func backoff(failures int) time.Duration {
	ceiling := min(minBackoff<<min(failures, 10), maxBackoff)
	return ceiling/2 + rand.N(ceiling/2)
}

// pause waits, and tells whether ctx is still alive.
func pause(ctx context.Context, wait time.Duration) bool {
	if wait <= 0 {
		return ctx.Err() == nil
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return ctx.Err() == nil
	case <-ctx.Done():
		return false
	}
}

// persist calls do until it succeeds, backing off between failures, each of which it reports. It fails only when ctx ends.
func persist(ctx context.Context, report func(error), do func(context.Context) error) error {
	for failures := 1; ; failures++ {
		err := do(ctx)
		if err == nil {
			return nil
		}
		if ctx.Err() == nil {
			report(err)
		}
		if !pause(ctx, backoff(failures)) {
			return ctx.Err()
		}
	}
}
