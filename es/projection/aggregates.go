package projection

import (
	"context"
	"fmt"
	"iter"

	"golang.org/x/sync/errgroup"

	"example.com/threads/es"
)

// verifyWorkers is how many aggregates are verified concurrently, each in its own transaction.
const verifyWorkers = 4

// Aggregates calls look for every aggregate of the verifiable types in the journal or the rows: concurrently, in any
// order, once each. It stops at the first error.
func (p *Projector) Aggregates(ctx context.Context, look func(context.Context, es.AggregateID) error) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(verifyWorkers + 1)
	group.Go(func() error {
		atOnce := func(uint64) error { return nil }
		return p.walk(ctx, atOnce, func(key es.AggregateID) error {
			group.Go(func() error { return look(ctx, key) })
			return nil
		})
	})
	return group.Wait()
}

// walk calls do for the aggregates that have a head, then for those that have rows alone. It calls pace
// before each aggregate, and again before it reads the journal for its rows, with the number of events to be read. It
// stops at the first error.
func (p *Projector) walk(ctx context.Context, pace func(events uint64) error, do func(es.AggregateID) error) error {
	for name, handler := range p.handlers {
		if _, able := handler.(Verifiable); !able {
			continue
		}
		for head, err := range p.journal.Heads(ctx, name) {
			if err != nil {
				return fmt.Errorf("list the aggregates of type %s: %w", name, err)
			}
			if err := pace(head.Version); err != nil {
				return err
			}
			if err := do(head.Key); err != nil {
				return err
			}
		}
	}
	for page, err := range positionPages(ctx, p.store) {
		if err != nil {
			return err
		}
		for _, position := range page {
			if _, able := p.handlers[position.Key.Type].(Verifiable); !able || position.Version == 0 {
				continue
			}
			if err := pace(1); err != nil {
				return err
			}
			headless, err := p.endsAt(ctx, position.Key, 0)
			if err != nil && es.KindOf(err) != es.Inconsistent {
				return err
			}
			if err != nil || !headless {
				continue // the heads include it
			}
			if err := do(position.Key); err != nil {
				return err
			}
		}
	}
	return nil
}

const positionsPage = 500

// positionPages yields all positions of a store. It ends after an error.
func positionPages(ctx context.Context, store Store) iter.Seq2[[]Head, error] {
	return func(yield func([]Head, error) bool) {
		for after := (es.AggregateID{}); ; {
			page, err := store.Positions(ctx, after, positionsPage)
			if err != nil {
				yield(nil, fmt.Errorf("list the positions: %w", err))
				return
			}
			if !yield(page, nil) || len(page) < positionsPage {
				return
			}
			after = page[len(page)-1].Key
		}
	}
}

// ahead reports whether the journal lacks the event that a position is at. The error is of the kind Inconsistent if the
// head alone says so.
func (p *Projector) ahead(ctx context.Context, position Head) (bool, error) {
	// Only a reader that claims to know events beyond the head is told that the head is wrong.
	ends, err := p.endsAt(ctx, position.Key, position.Version)
	if err == nil && ends {
		ends, err = p.endsAt(ctx, position.Key, position.Version-1)
	}
	return ends, err
}

// endsAt reports whether the journal has no event of an aggregate after the one with this number.
func (p *Projector) endsAt(ctx context.Context, key es.AggregateID, seqNr uint64) (bool, error) {
	for _, err := range p.journal.EventsAfter(ctx, key, seqNr) {
		return false, err
	}
	return true, nil
}
