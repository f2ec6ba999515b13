package projection

import (
	"context"
	"fmt"

	"golang.org/x/sync/errgroup"

	"example.com/threads/usecase"
)

// verifyWorkers is how many aggregates are verified together, each with a transaction.
const verifyWorkers = 4

// Aggregates calls look with every aggregate of the verifiable types that the journal or the rows know, in no order
// and at most twice, several at a time. It ends with the first error.
func (p *Projector) Aggregates(ctx context.Context, look func(context.Context, usecase.Key) error) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(verifyWorkers + 1)
	group.Go(func() error {
		atOnce := func() error { return nil }
		return p.walk(ctx, atOnce, func(key usecase.Key) error {
			group.Go(func() error { return look(ctx, key) })
			return nil
		})
	})
	return group.Wait()
}

// walk calls do with the aggregates that have a head, and then with those that have rows beyond the journal. It calls
// pace before it turns to an aggregate, and again before it asks the journal about its rows. It ends with the first
// error.
func (p *Projector) walk(ctx context.Context, pace func() error, do func(usecase.Key) error) error {
	for name, handler := range p.handlers {
		if _, able := handler.(Verifiable); !able {
			continue
		}
		for head, err := range p.journal.Heads(ctx, name) {
			if err != nil {
				return fmt.Errorf("list the aggregates of type %s: %w", name, err)
			}
			if err := pace(); err != nil {
				return err
			}
			if err := do(head.Key); err != nil {
				return err
			}
		}
	}
	for after := (usecase.Key{}); ; {
		page, err := p.store.Positions(ctx, after, positionsPage)
		if err != nil {
			return fmt.Errorf("list the positions: %w", err)
		}
		for _, position := range page {
			if _, able := p.handlers[position.Key.Type].(Verifiable); !able || position.Version == 0 {
				continue
			}
			if err := pace(); err != nil {
				return err
			}
			ahead, err := p.ahead(ctx, position)
			if err != nil {
				return err
			}
			if !ahead {
				continue
			}
			if err := do(position.Key); err != nil {
				return err
			}
		}
		if len(page) < positionsPage {
			return nil
		}
		after = page[len(page)-1].Key
	}
}

const positionsPage = 500

// ahead tells that the journal does not have the event that a position is at.
func (p *Projector) ahead(ctx context.Context, position Head) (bool, error) {
	for _, err := range p.journal.EventsAfter(ctx, position.Key, position.Version-1) {
		return false, err
	}
	return true, nil
}
