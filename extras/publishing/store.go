package publishing

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"example.com/threads/es"
	"example.com/threads/es/projection"
)

// Change implements [projection.Store]. It reads the positions in one transaction, publishes the events, and stores the
// resulting positions in another transaction. If that takes long or fails, the positions of the events that were
// accepted are stored before, each second and in the end. If the program dies in between, only the events of the last
// second are published again.
func (p *Publisher) Change(ctx context.Context, change func(context.Context, projection.Tx) error) error {
	select {
	case p.turn <- struct{}{}:
		defer func() { <-p.turn }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	work := &transaction{publisher: p, found: make(map[es.AggregateID]projection.Position)}
	err := change(ctx, work)
	if err == nil {
		err = p.save(ctx, work, work.changes)
	}
	if err != nil && !errors.Is(err, projection.ErrRefused) { // a refused change is repeated at once
		p.keep(ctx, work)
	}
	return err
}

// save stores changes, unless another process has changed the positions since they were read.
func (p *Publisher) save(ctx context.Context, work *transaction, changes projection.Changes) error {
	err := p.Store.Change(ctx, func(ctx context.Context, tx projection.Tx) error {
		now, err := tx.Load(ctx, slices.Collect(maps.Keys(work.found)))
		if err != nil {
			return err
		}
		for key, found := range work.found {
			if now[key].Version != found.Version {
				return fmt.Errorf("%w: another process has published events of %s", projection.ErrTransient, key)
			}
		}
		return tx.Save(ctx, changes)
	})
	if err == nil {
		p.forget(changes)
	}
	return err
}

const (
	keepEvery  = time.Second     // between two times that positions are stored while events are published
	keepWithin = 5 * time.Second // limit of one such transaction, also of a program that stops
)

// keep stores the positions of the events that were accepted so far. If it fails, the next one does it, and after a
// restart these events are published again.
func (p *Publisher) keep(ctx context.Context, work *transaction) {
	changes := projection.Changes{Versions: make(map[es.AggregateID]uint64), Parked: make(map[es.AggregateID]projection.DeadLetter), At: time.Now()}
	p.mu.Lock()
	for key, found := range work.found {
		if accepted := p.known[key].accepted; accepted > found.Version {
			changes.Versions[key] = accepted
			if found.Parked != nil {
				changes.Parked[key] = *found.Parked
			}
		}
	}
	p.mu.Unlock()
	if len(changes.Versions) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), keepWithin)
	defer cancel()
	if p.save(ctx, work, changes) != nil {
		return
	}
	for key, version := range changes.Versions {
		work.found[key] = projection.Position{Version: version, Parked: work.found[key].Parked}
	}
}

// forget drops answers whose positions are stored now.
func (p *Publisher) forget(changes projection.Changes) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for key, version := range changes.Versions {
		known := p.known[key]
		parkedOnIt := known.refused > 0 && changes.Parked[key].SeqNr == known.refused
		if parkedOnIt || version >= max(known.accepted, known.refused) {
			delete(p.known, key)
		}
	}
}

// transaction is the transaction for the projector.
type transaction struct {
	publisher *Publisher
	found     map[es.AggregateID]projection.Position // as stored
	changes   projection.Changes
}

// Load implements [projection.Tx]. The returned positions stay valid until Change ends, because only this publisher
// changes them, one change at a time.
func (w *transaction) Load(ctx context.Context, keys []es.AggregateID) (found map[es.AggregateID]projection.Position, err error) {
	err = w.publisher.Store.Change(ctx, func(ctx context.Context, tx projection.Tx) error {
		found, err = tx.Load(ctx, keys)
		return err
	})
	for _, key := range keys {
		w.found[key] = found[key]
	}
	return found, err
}

// Save implements [projection.Tx]. It keeps the changes until the events are published.
func (w *transaction) Save(_ context.Context, changes projection.Changes) error {
	w.changes = changes
	return nil
}
