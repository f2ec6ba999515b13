package projection

import (
	"context"
	"fmt"

	"example.com/threads/es"
)

// retract moves the positions of another projection that are beyond the journal back to the journal's end. They are
// beyond it after the event store was restored to an earlier time; that projection would then take the next events for
// events that it knows. It repeats none. Call it when the rows of p are up to date: only what differs from them is
// looked up in the journal.
//
// Errors are those of [Projector.Project], and the journal's.
func (p *Projector) retract(ctx context.Context, other Store) error {
	moved := 0
	defer func() {
		if moved > 0 {
			p.logger.WarnContext(ctx, "another projection was ahead of the journal, and continues at its end", "aggregates", moved)
		}
	}()
	for page, err := range positionPages(ctx, other) {
		if err != nil {
			return err
		}
		keys := make([]es.AggregateID, len(page))
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
			done, err := p.retractOne(ctx, other, position, rows[position.Key])
			if err != nil {
				return err
			}
			if done {
				moved++
			}
		}
	}
	return nil
}

// retractOne retracts a position that is beyond the rows, and reports whether it was beyond the journal, too: rows may
// just be behind.
func (p *Projector) retractOne(ctx context.Context, other Store, position Head, rows uint64) (bool, error) {
	ahead, err := p.ahead(ctx, position)
	if es.KindOf(err) == es.Inconsistent {
		return false, nil // the head is wrong; no event is known to be lost
	}
	if err != nil || !ahead {
		return false, err
	}
	end := rows
	for record, err := range p.journal.EventsAfter(ctx, position.Key, rows) {
		if err != nil {
			return false, err
		}
		end = record.SeqNr
	}
	return true, p.retry(ctx, func() error {
		return other.Change(ctx, func(ctx context.Context, tx Tx) error {
			now, err := tx.Load(ctx, []es.AggregateID{position.Key})
			if err != nil || now[position.Key].Version != position.Version {
				return err
			}
			return tx.Save(ctx, now[position.Key].moved(position.Key, end, p.options.Now()))
		})
	})
}
