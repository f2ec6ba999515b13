// Package polling is what the sources of changes share: pace, retries, handing over to a projection, and metrics. A
// source polls often while records come, ever less often when none do, and never gives up: it tries again until it is
// stopped. [Pace] says how long to wait, [Retry] repeats what failed, [HandOver] lets a batch end after a stop.
package polling

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"example.com/threads/es"
	"example.com/threads/es/projection"
)

const (
	// StallAfter is how long a source may make no progress before it is unhealthy.
	StallAfter = 10 * time.Second

	grace  = 8 * time.Second        // how long a batch may go on after the source was stopped
	follow = 500 * time.Millisecond // how long a source polls every Min after its last record, before the waits grow
)

// ErrSilent is the reason why a source makes no progress when nothing has failed.
var ErrSilent = errors.New("no answer so far")

// HandOver projects a batch, which may continue for eight seconds when ctx ends. A panic becomes an error.
func HandOver(ctx context.Context, to projection.Sink, batch projection.Batch) (err error) {
	work, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	defer context.AfterFunc(ctx, func() { Pause(work, grace); cancel() })()
	defer func() {
		if reason := recover(); reason != nil {
			err = fmt.Errorf("panic while projecting: %v\n%s", reason, debug.Stack())
		}
	}()
	_, err = to.Project(work, batch)
	return err
}

// Pace computes the wait between two polls: Min while records arrive and shortly afterwards, then doubled after each
// empty page, up to Max. It must be used by one goroutine.
type Pace struct {
	Min, Max time.Duration

	wait  time.Duration
	found time.Time // when records last arrived
}

// Next returns the wait after a page with this many records. After a full page, of limit records, it is 0.
func (p *Pace) Next(records, limit int, now time.Time) time.Duration {
	switch {
	case records > 0:
		p.found, p.wait = now, p.Min
	case now.Sub(p.found) < follow:
		p.wait = p.Min
	default:
		p.wait = min(max(2*p.wait, p.Min), p.Max)
	}
	if records >= limit {
		return 0
	}
	return p.wait
}

// Retry calls do until it succeeds, and reports each failure. The waits are 100 ms, doubled up to 5 s, less up to half
// at random. It fails when ctx ends, which it does not report.
func Retry(ctx context.Context, report func(error), do func(context.Context) error) error {
	for failures := 0; ; failures++ {
		err := do(ctx)
		if err == nil {
			return nil
		}
		if ctx.Err() == nil {
			report(err)
		}
		if err := es.Wait(ctx, es.Backoff(100*time.Millisecond, 5*time.Second, failures)); err != nil {
			return err
		}
	}
}

// Pause waits and returns whether ctx is still active.
func Pause(ctx context.Context, wait time.Duration) bool { return es.Wait(ctx, wait) == nil }

// Total registers a running total as a metric.
func Total(registry prometheus.Registerer, name, help string, total *atomic.Int64) {
	promauto.With(registry).NewCounterFunc(prometheus.CounterOpts{Name: name, Help: help}, func() float64 { return float64(total.Load()) })
}
