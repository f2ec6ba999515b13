package run

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"example.com/threads/es/internal/polling"
	"example.com/threads/es/process"
	"example.com/threads/es/projection"
)

// Process is a process manager that a turn can run.
type Process struct {
	Name string
	Send process.Send
	// Handlers add the commands that follow from events to the outbox.
	Handlers func(*process.Outbox) []projection.Handler
	// Hold, which is required, returns a warning for operators, or nil; it stops nothing.
	Hold func(context.Context) error
	// Finish, which is required, is called when nothing is sent any more.
	Finish func(context.Context) error
}

// running is a running process manager.
type running struct {
	*Followed
	process Process
	turn    *Turn
	outbox  *process.Outbox
	gauges  atomic.Pointer[[]Gauge] // of the last check that succeeded
}

// Process returns a process manager as a consumer.
func (t *Turn) Process(p Process) (Consumer, error) {
	store, err := t.Store(p.Name)
	if err != nil {
		return nil, err
	}
	log := t.updater.options.Log
	outbox := process.New(t.databases.Rows, store, p.Name, log)
	registry := prometheus.WrapRegistererWithPrefix("process_", prometheus.WrapRegistererWith(prometheus.Labels{"process": p.Name}, t.Registry))
	polling.Total(registry, "commands_sent_total", "Commands of the process that were decided.", &outbox.Sent)
	polling.Total(registry, "commands_failed_total", "Attempts to send a command of the process that failed; it is sent again.", &outbox.Failures)
	followed, err := t.Follow(p.Name, store, store, registry, projection.Options{
		Logger: log.With("process", p.Name), Ignore: t.updater.options.ReadModel.Types(), Notify: func([]projection.AtVersion) { outbox.Wake() },
	}, p.Handlers(outbox)...)
	return &running{Followed: followed, process: p, turn: t, outbox: outbox}, err
}

const finishTimeout = 2 * time.Second // for snapshots that are due at the end

// Run works until ctx ends and the current batches are stored.
func (r *running) Run(ctx context.Context) {
	var sending sync.WaitGroup
	sending.Go(func() { r.outbox.Run(ctx, r.process.Send) })
	r.Followed.Run(ctx)
	sending.Wait()
	ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), finishTimeout)
	defer cancel()
	if err := r.process.Finish(ending); err != nil {
		r.turn.updater.options.Log.WarnContext(ctx, "snapshots that were due have been given up; the next events of their aggregates make up for it", "error", err)
	}
}

// Check implements [Consumer].
func (r *running) Check(ctx context.Context) (found Status, err error) {
	if last := r.gauges.Load(); last != nil {
		found.Gauges = *last
	}
	waiting, failing, err := r.outbox.Count(ctx)
	if err != nil {
		return found, err
	}
	parked, err := r.store.CountParked(ctx)
	if err := errors.Join(err, r.source.Health()); err != nil {
		return found, err
	}
	of := prometheus.Labels{"process": r.process.Name}
	found.Gauges = []Gauge{
		{"process_commands_waiting", "Commands of the process that are not decided yet.", float64(waiting), of},
		{"process_commands_failing", "Those of them that have failed at least once.", float64(failing), of},
		{"process_parked_aggregates", "Aggregates that wait for an event that the process can't take in.", float64(parked), of},
		{
			"process_projection_lag_seconds", "Age of the oldest record that the process has not seen; 0 when there is none.",
			r.Lag(ctx).Behind.Seconds(), of,
		},
	}
	r.gauges.Store(&found.Gauges)
	if parked > 0 {
		found.Warnings = append(found.Warnings, fmt.Sprintf("process %s: %d aggregates are parked, and no commands are sent because of their events: %s",
			r.process.Name, parked, r.turn.Advice.Parked))
	}
	if failing > 0 {
		found.Warnings = append(found.Warnings, fmt.Sprintf("process %s: %d of %d commands that wait have failed at least once: %s",
			r.process.Name, failing, waiting, r.turn.Advice.Parked))
	}
	if wrong := r.process.Hold(ctx); wrong != nil {
		found.Warnings = append(found.Warnings, fmt.Sprintf("process %s: its commands wait: %v", r.process.Name, wrong))
	}
	return found, nil
}
