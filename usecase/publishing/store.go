package publishing

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"example.com/threads/es"
	"example.com/threads/es/projection"
)

// Change implements [projection.Store]. It reads the positions in one transaction, publishes the events, and stores the
// resulting positions in another transaction. If the program dies in between, the events are published again.
func (p *Publisher) Change(ctx context.Context, change func(context.Context, projection.Tx) error) error {
	select {
	case p.turn <- struct{}{}:
		defer func() { <-p.turn }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	work := &transaction{publisher: p, found: make(map[es.Key]projection.Position)}
	if err := change(ctx, work); err != nil {
		return err
	}
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
		return tx.Save(ctx, work.changes)
	})
	if err == nil {
		p.forget(work.changes)
	}
	return err
}

// forget drops answers whose positions are stored now.
func (p *Publisher) forget(changes projection.Changes) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for key, version := range changes.Versions {
		_, parked := changes.Parked[key]
		if known := p.known[key]; parked || version >= max(known.accepted, known.refused) {
			delete(p.known, key)
		}
	}
}

// transaction is the transaction for the projector.
type transaction struct {
	publisher *Publisher
	found     map[es.Key]projection.Position
	changes   projection.Changes
}

// Load implements [projection.Tx]. The returned positions stay valid until Change ends, because only this publisher
// changes them, one change at a time.
func (w *transaction) Load(ctx context.Context, keys []es.Key) (found map[es.Key]projection.Position, err error) {
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
