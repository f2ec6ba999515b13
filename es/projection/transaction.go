package projection

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"

	"example.com/threads/es"
)

// transaction collects the changes of one transaction: positions, rows and dead letters.
type transaction struct {
	projector   *Projector
	positions   map[es.AggregateID]Position
	folds       map[string]Fold // by aggregate type
	changes     Changes
	changed     []AtVersion // aggregates whose rows changed
	newlyParked []DeadLetter
	released    []es.AggregateID
	traced      []Event // applied events that carry a trace
	done        result
}

// begin locks the positions of the runs' aggregates and loads the rows that their events need.
func (p *Projector) begin(ctx context.Context, tx Tx, runs []eventRun) (*transaction, error) {
	positions, err := tx.Load(ctx, keysOf(runs, func(run eventRun) es.AggregateID { return run.key }))
	if err != nil {
		return nil, err
	}
	t := &transaction{
		projector: p, positions: positions, folds: make(map[string]Fold),
		changes: Changes{Positions: make(map[es.AggregateID]Position), At: p.options.Now()},
		done:    result{parked: make(map[es.AggregateID]bool)},
	}
	needed := make(map[string][]Event)
	for _, run := range runs {
		position, locked := positions[run.key]
		if position.Parked != nil && run.origin != fromRetry {
			continue
		}
		for _, event := range run.events {
			if event.SeqNr > position.Version && event.Event != nil {
				needed[run.key.Type] = append(needed[run.key.Type], event)
				if !locked { // even if none is applied: rows that are loaded may be saved
					t.changes.Positions[run.key] = position
				}
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(needed)) {
		if t.folds[name], err = p.handlers[name].Load(ctx, tx, needed[name]); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// apply applies a run to the rows as far as possible, and records what follows. An error is ctx's, or errMovedBack.
func (t *transaction) apply(ctx context.Context, run eventRun) error {
	before := t.positions[run.key]
	if before.Parked != nil && run.origin != fromRetry {
		t.hold(run, before.Version)
		return nil
	}
	misfit := t.fold(run)
	version := t.positions[run.key].Version
	if version > before.Version {
		t.changes.Positions[run.key] = t.positions[run.key]
		t.changed = append(t.changed, AtVersion{Key: run.key, Version: version})
	}

	reached := version >= run.last()
	failed := run.failure
	switch {
	case misfit != nil && run.origin != fromSource:
		t.park(run.key, misfit)
	case reached && failed != nil && (version < failed.seqNr || failed.unreachable && run.origin == fromRetry):
		t.park(run.key, failed)
	case reached && failed != nil:
		// Another projector has got past the failure in the meantime: read the journal again after the new version.
		t.done.gaps = append(t.done.gaps, eventGap{key: run.key, after: version, target: run.target, whole: run.origin == fromRetry, origin: max(run.origin, fromJournal)})
	case run.origin == fromSource && version < run.target:
		t.done.gaps = append(t.done.gaps, eventGap{key: run.key, after: version, target: run.target, origin: fromJournal})
	case run.origin == fromJournal && !reached:
		return errMovedBack
	case run.origin == fromRetry && reached && run.complete && before.Parked != nil:
		return t.release(ctx, run.key)
	}
	return nil
}

// errMovedBack: a position is lower than before, which only a rebuild of the tables causes.
var errMovedBack = errors.New("positions went back while a gap was filled; the batch has to be projected again")

// fold applies the events of a run that are not in the rows. It stops at a gap, and at an event that cannot be applied.
func (t *transaction) fold(run eventRun) *failure {
	position := t.positions[run.key]
	defer func() { t.positions[run.key] = position }()
	for _, event := range run.events {
		switch {
		case event.SeqNr <= position.Version:
			if run.origin == fromSource {
				t.done.outcome.Duplicates++
			}
			continue
		case event.SeqNr > position.Version+1:
			return nil
		}
		if event.Event == nil {
			position.Version = event.SeqNr
			continue
		}
		if err := t.folds[run.key.Type].Apply(event); err != nil {
			return &failure{seqNr: event.SeqNr, eventID: event.EventID, cause: fmt.Errorf("the event can't be applied: %w", err)}
		}
		position.Version = event.SeqNr
		if event.Traceparent != "" {
			t.traced = append(t.traced, event)
		}
		if run.origin == fromSource {
			t.done.outcome.Applied++
		} else {
			t.done.outcome.Filled++
		}
	}
	return nil
}

// hold skips the events of a parked aggregate. The retry will read them from the journal.
func (t *transaction) hold(run eventRun, version uint64) {
	t.done.parked[run.key] = true
	if run.origin != fromSource {
		return
	}
	for _, event := range run.events {
		if event.SeqNr <= version {
			t.done.outcome.Duplicates++
		} else {
			t.done.outcome.Held++
		}
	}
}

// park stops an aggregate before the event that failed.
func (t *transaction) park(key es.AggregateID, failed *failure) {
	position := t.positions[key]
	known := cmp.Or(position.Parked, &DeadLetter{ParkedAt: t.changes.At})
	letter := DeadLetter{
		Key: key, SeqNr: failed.seqNr, EventID: failed.eventID, Reason: failed.cause.Error(), Attempts: 1, ParkedAt: known.ParkedAt,
	}
	if known.SeqNr == letter.SeqNr {
		letter.Attempts += known.Attempts
	}
	if known.SeqNr != letter.SeqNr || known.Reason != letter.Reason {
		t.newlyParked = append(t.newlyParked, letter)
	}
	letter.RetryAt = t.changes.At.Add(es.Backoff(parkedPause, longestParkedPause, letter.Attempts-1))
	position.Parked = &letter
	t.positions[key], t.changes.Positions[key] = position, position // which then has a row to lock
	t.done.parked[key] = true
	t.done.outcome.Parked++
}

// release unparks an aggregate when the journal has no events after its rows. Records that were held while it was
// parked are in the journal. The lock on the position keeps other projectors out until this transaction ends, so no
// event can be missed between the read of the journal and the release. In a transaction with events it is left to
// another one: a publisher cannot keep the lock while it publishes them.
func (t *transaction) release(ctx context.Context, key es.AggregateID) error {
	position := t.positions[key]
	rest := eventGap{key: key, after: position.Version, whole: true, origin: fromRetry}
	if len(t.folds) > 0 {
		t.done.gaps = append(t.done.gaps, rest)
		return nil
	}
	for _, err := range t.projector.eventsAfter(ctx, key, position.Version) {
		switch {
		case err == nil:
			t.done.gaps = append(t.done.gaps, rest)
		case ctx.Err() != nil:
			return context.Cause(ctx)
		default:
			t.park(key, unreachable(position.Parked.SeqNr, err))
		}
		return nil
	}
	position.Parked = nil
	t.positions[key], t.changes.Positions[key] = position, position
	t.released = append(t.released, key)
	t.done.outcome.Released++
	return nil
}

// save writes the changes: positions first, so that a transaction that lost a race fails before it writes rows.
func (t *transaction) save(ctx context.Context, tx Tx, mark Changes) error {
	if len(t.done.gaps) == 0 {
		t.changes.Checkpoint, t.changes.Types = mark.Checkpoint, mark.Types
	}
	if err := tx.Save(ctx, t.changes); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(t.folds)) {
		if err := t.folds[name].Save(ctx, tx); err != nil {
			return err
		}
	}
	return nil
}

// report logs newly parked and released aggregates.
func (t *transaction) report(ctx context.Context, log *slog.Logger) {
	for _, letter := range t.newlyParked {
		log.ErrorContext(ctx, "an aggregate is parked: its rows do not change until the event can be projected",
			"aggregate", letter.Key.String(), "tenant", letter.Key.Tenant.String(), "seq_nr", letter.SeqNr,
			"event_id", letter.EventID, "reason", letter.Reason)
	}
	for _, key := range t.released {
		log.InfoContext(ctx, "a parked aggregate has caught up with the journal", "aggregate", key.String(), "tenant", key.Tenant.String())
	}
}
