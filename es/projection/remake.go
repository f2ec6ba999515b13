package projection

import (
	"context"
	"fmt"

	"example.com/threads/es"
)

// Remake rebuilds the rows of an aggregate and its position from the journal, in one transaction. Skipped events stay
// left out; a parked aggregate stays parked. If an event that was in the rows can no longer be applied, or if head and
// journal contradict each other, Remake fails and changes nothing.
func (p *Projector) Remake(ctx context.Context, key es.AggregateID) error {
	handler, able := p.handlers[key.Type].(Verifiable)
	if !able {
		return fmt.Errorf("this program can't rebuild rows of aggregate type %q", key.Type)
	}
	skipped, err := p.store.Skipped(ctx, key)
	if err != nil {
		return err
	}
	var version uint64
	err = p.retry(ctx, func() error {
		return p.store.Change(ctx, func(ctx context.Context, tx Tx) (err error) {
			version, err = p.remake(ctx, tx, handler, key, skipped)
			return err
		})
	})
	if err != nil {
		return fmt.Errorf("rebuild the rows of %s: %w", key, err)
	}
	p.options.Notify([]Head{{Key: key, Version: version}})
	return nil
}

func (p *Projector) remake(ctx context.Context, tx Tx, handler Verifiable, key es.AggregateID, skipped map[uint64]bool) (version uint64, err error) {
	positions, err := tx.Load(ctx, []es.AggregateID{key})
	if err != nil {
		return 0, err
	}
	if err := handler.Clear(ctx, tx, key); err != nil {
		return 0, err
	}
	before := positions[key]
	var events []Event
	flush := func() error {
		if len(events) == 0 {
			return nil
		}
		fold, err := handler.Load(ctx, tx, events)
		if err != nil {
			return err
		}
		for _, event := range events {
			if err := fold.Apply(event); err != nil {
				return fmt.Errorf("event %d can't be applied: %w", event.SeqNr, err)
			}
		}
		events = events[:0]
		return fold.Save(ctx)
	}
	for record, err := range p.journal.EventsAfter(ctx, key, 0) {
		if err != nil {
			return 0, err
		}
		// Later events are left to the projection, which handles events that can't be applied.
		if record.SeqNr > before.Version {
			break
		}
		version = record.SeqNr
		if skipped[record.SeqNr] {
			continue
		}
		event, err := p.decode(record)
		if err != nil {
			return 0, fmt.Errorf("event %d can't be read: %w", record.SeqNr, err)
		}
		if events = append(events, event); len(events) == p.options.FillEvents {
			if err := flush(); err != nil {
				return 0, err
			}
		}
	}
	if err := flush(); err != nil {
		return 0, err
	}
	if version < before.Version {
		if _, err := p.ahead(ctx, Head{Key: key, Version: before.Version}); err != nil {
			return 0, err
		}
	}
	return version, tx.Save(ctx, before.moved(key, version, p.options.Now()))
}

// VerifyOrRepair verifies the rows of an aggregate. With repair, it rebuilds rows that differ, unless head and journal
// contradict each other. If rows can't be rebuilt, the reason is among the differences.
func (p *Projector) VerifyOrRepair(ctx context.Context, key es.AggregateID, repair bool) (found Verified, repaired bool, err error) {
	found, err = p.Verify(ctx, key)
	if err != nil || !repair || len(found.Differences) == 0 || found.Contradicted {
		return found, false, err
	}
	if err := p.Remake(ctx, key); err != nil {
		reason := Difference{Key: key, Row: "the repair", What: "nothing was changed", Expected: "rebuilt rows", Found: err.Error()}
		found.Differences = append(found.Differences, reason)
		return found, false, context.Cause(ctx)
	}
	return found, true, nil
}

// Fill brings the rows of an aggregate to the end of the journal, unless it is parked.
func (p *Projector) Fill(ctx context.Context, key es.AggregateID) error {
	versions, err := p.store.Versions(ctx, []es.AggregateID{key})
	if err != nil {
		return err
	}
	_, err = p.fill(ctx, []eventGap{{key: key, after: versions[key], target: versions[key], whole: true, origin: fromJournal}}, withoutMark)
	return err
}
