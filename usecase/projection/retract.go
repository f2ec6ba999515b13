package projection

import (
	"context"
	"fmt"

	"example.com/threads/usecase"
)

// retract moves the positions of another projection that are beyond the journal back to the journal's end. They are
// beyond it after the event store was restored to an earlier time; that projection would then take the next events for
// events that it knows. It repeats none. Call it when the rows of p are up to date: only what differs from them is
// looked up in the journal.
//
// Errors are those of [Projector.Project], and the journal's.
func (p *Projector) retract(ctx context.Context, other Store) error {
	for after := (usecase.Key{}); ; {
		page, err := other.Positions(ctx, after, positionsPage)
		if err != nil {
			return fmt.Errorf("list the positions: %w", err)
		}
		keys := make([]usecase.Key, len(page))
		for i, position := range page {
			keys[i] = position.Key
		}
		rows, err := p.store.Versions(ctx, keys)
		if err != nil {
			return fmt.Errorf("read positions: %w", err)
		}
		for _, position := range page {
			if position.Version <= rows[position.Key] {
				continue
			}
			if err := p.retractOne(ctx, other, position, rows[position.Key]); err != nil {
				return err
			}
		}
		if len(page) < positionsPage {
			return nil
		}
		after = page[len(page)-1].Key
	}
}

// retractOne retracts a position that is beyond the rows, which may just be behind.
func (p *Projector) retractOne(ctx context.Context, other Store, position Head, rows uint64) error {
	ahead, err := p.ahead(ctx, position)
	if usecase.KindOf(err) == usecase.Inconsistent {
		return nil // the head is wrong, and nothing is known to be lost
	}
	if err != nil || !ahead {
		return err
	}
	end := rows
	for record, err := range p.journal.EventsAfter(ctx, position.Key, rows) {
		if err != nil {
			return err
		}
		end = record.SeqNr
	}
	p.logger.WarnContext(ctx, "another projection was ahead of the journal, and goes on at its end", "aggregate", position.Key.String(),
		"tenant", position.Key.Tenant.String(), "version", position.Version, "end", end)
	return p.retry(ctx, func() error {
		return other.Change(ctx, func(ctx context.Context, tx Tx) error {
			now, err := tx.Load(ctx, []usecase.Key{position.Key})
			if err != nil || now[position.Key].Version != position.Version {
				return err
			}
			return tx.Save(ctx, now[position.Key].moved(position.Key, end, p.options.Now()))
		})
	})
}
