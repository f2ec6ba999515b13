package dynamodbstreams

import (
	"context"
	"fmt"
	"sync"
	"time"

	"example.com/threads/interfaceadaptor/stream"
	"example.com/threads/usecase/projection"
)

// repairs sees to it that a repair that is needed takes place, whatever happens in between. The need is stored as a
// checkpoint of its own: at the first start, when there is none, and from flag until a repair that began afterwards is
// complete.
type repairs struct {
	source *Source
	stream string
	wake   chan struct{}

	mu    sync.Mutex
	flags int  // how often flag was called
	due   bool // as it is stored
}

const (
	repairShard = "repair" // where the need is stored, beside the shards
	repairDue   = "due"
	repairDone  = "done"
)

// restore takes over what is stored; without anything, nothing is known to be in the read model.
func (r *repairs) restore(stored string) { r.setDue(stored == repairDue) }

func (r *repairs) setDue(due bool) {
	r.due = due
	r.source.meter.repairDue(due, time.Now())
}

// flag notes that a repair is needed. Once it has returned nil, the source may read on behind the loss. start then
// begins the repair.
func (r *repairs) flag(ctx context.Context) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.store(ctx, repairDue); err != nil {
		return err
	}
	r.flags++
	r.setDue(true)
	return nil
}

// start has a repair begin after this call.
func (r *repairs) start() {
	select {
	case r.wake <- struct{}{}:
	default: // one is about to begin
	}
}

func (r *repairs) isDue() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.due
}

// run repairs when it is told to, until ctx ends.
func (r *repairs) run(ctx context.Context) {
	report := func(err error) { r.source.fail(ctx, "the repair from the journal failed and is tried again", err) }
	for {
		select {
		case <-ctx.Done():
			return
		case <-r.wake:
		}
		if stream.Persist(ctx, report, r.repair) != nil {
			return
		}
	}
}

func (r *repairs) repair(ctx context.Context) error {
	r.mu.Lock()
	flags := r.flags
	r.mu.Unlock()
	began := time.Now()
	r.source.log.InfoContext(ctx, "repairing the read model from the journal")
	outcome, err := r.source.ports.Projector.Repair(ctx)
	if err != nil {
		return err
	}
	r.source.log.InfoContext(ctx, "repaired the read model from the journal", "events", outcome.Filled, "took", time.Since(began))

	r.mu.Lock()
	defer r.mu.Unlock()
	if r.flags == flags { // otherwise it is needed again, and start was or will be called for it
		if err := r.store(ctx, repairDone); err != nil {
			return err
		}
		r.setDue(false)
	}
	r.source.counters.Repairs.Add(1)
	return nil
}

func (r *repairs) store(ctx context.Context, state string) error {
	err := r.source.project(ctx, projection.Batch{Checkpoint: projection.Checkpoint{Source: r.stream, Shard: repairShard, Position: state}})
	if err != nil {
		return fmt.Errorf("store that a repair is %s: %w", state, err)
	}
	return nil
}
