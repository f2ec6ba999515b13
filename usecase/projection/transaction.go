package projection

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"

	"example.com/threads/usecase"
)

// transaction is one transaction in the making: where the aggregates are, their rows, and what is different about them.
type transaction struct {
	projector *Projector
	positions map[usecase.Key]Position
	folds     map[string]Fold // by aggregate type
	changes   Changes
	told      []DeadLetter // what is new about parked aggregates
	done      result
}

// begin locks the positions of the runs' aggregates and loads the rows that the runs need.
func (p *Projector) begin(ctx context.Context, tx Tx, runs []run) (*transaction, error) {
	keys := make([]usecase.Key, len(runs))
	for i, run := range runs {
		keys[i] = run.key
	}
	positions, err := tx.Load(ctx, keys)
	if err != nil {
		return nil, err
	}
	needed := make(map[string][]Event)
	for _, run := range runs {
		position := positions[run.key]
		if position.Parked != nil && run.origin != fromRetry {
			continue
		}
		for _, event := range run.events {
			if event.SeqNr > position.Version && !p.options.Skipped[run.key][event.SeqNr] {
				needed[run.key.Type] = append(needed[run.key.Type], event)
			}
		}
	}
	t := &transaction{
		projector: p, positions: positions, folds: make(map[string]Fold),
		changes: Changes{Versions: make(map[usecase.Key]uint64), Parked: make(map[usecase.Key]DeadLetter), At: p.options.Now()},
		done:    result{parked: make(map[usecase.Key]bool)},
	}
	for _, name := range slices.Sorted(maps.Keys(needed)) {
		if t.folds[name], err = p.handlers[name].Load(ctx, tx, needed[name]); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// apply folds a run into the rows, as far as it goes, and sees to what is missing behind it. An error is ctx's, or of a
// store that went back.
func (t *transaction) apply(ctx context.Context, run run) error {
	before := t.positions[run.key]
	if before.Parked != nil && run.origin != fromRetry {
		t.hold(run, before.Version)
		return nil
	}
	unfit := t.fold(run)
	version := t.positions[run.key].Version
	if version > before.Version {
		t.changes.Versions[run.key] = version
		if before.Parked != nil {
			t.changes.Parked[run.key] = *before.Parked // until it is released
		}
		t.done.changed = append(t.done.changed, Head{Key: run.key, Version: version})
	}

	reached := version >= run.last()
	failed := run.failure
	switch {
	case unfit != nil && run.origin != fromSource:
		t.park(run.key, *unfit)
	case reached && failed != nil && (version < failed.seqNr || failed.unreachable && run.origin == fromRetry):
		t.park(run.key, *failed)
	case reached && failed != nil:
		// Another projector got past it in the meantime: look again what there is behind.
		t.done.addGap(gap{key: run.key, after: version, target: run.target, whole: run.origin == fromRetry, origin: max(run.origin, fromJournal)})
	case run.origin == fromSource && version < run.target:
		t.done.addGap(gap{key: run.key, after: version, target: run.target, origin: fromJournal})
	case run.origin == fromJournal && !reached:
		return errMovedBack
	case run.origin == fromRetry && reached && run.complete:
		return t.release(ctx, run.key)
	}
	return nil
}

// errMovedBack is for positions that went behind what they had reached, which nothing but a rebuild of the tables does.
var errMovedBack = errors.New("the positions went back while a gap was filled; the batch has to be projected again")

// fold applies the events of run that come next, and leaves out those that the rows have already. It stops at a gap,
// and at an event that does not fit, which is the failure.
func (t *transaction) fold(run run) *failure {
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
		if t.projector.options.Skipped[run.key][event.SeqNr] {
			position.Version = event.SeqNr
			continue
		}
		if err := t.folds[run.key.Type].Apply(event); err != nil {
			return &failure{seqNr: event.SeqNr, eventID: event.EventID, cause: fmt.Errorf("it can't be applied: %w", err)}
		}
		position.Version = event.SeqNr
		if run.origin == fromSource {
			t.done.outcome.Applied++
		} else {
			t.done.outcome.Filled++
		}
	}
	return nil
}

// hold leaves a parked aggregate as it is. Its events are in the journal, from where the retry will take them.
func (t *transaction) hold(run run, version uint64) {
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
func (t *transaction) park(key usecase.Key, failed failure) {
	letter := DeadLetter{
		Key: key, SeqNr: failed.seqNr, EventID: failed.eventID, Payload: failed.payload, Reason: failed.cause.Error(),
		Attempts: 1, ParkedAt: t.changes.At,
	}
	position := t.positions[key]
	known := position.Parked
	if known != nil {
		letter.ParkedAt = known.ParkedAt
		if known.SeqNr == letter.SeqNr {
			letter.Attempts = known.Attempts + 1
		}
	}
	if known == nil || known.SeqNr != letter.SeqNr || known.Reason != letter.Reason {
		t.told = append(t.told, letter)
	}
	letter.RetryAt = t.changes.At.Add(pauseBefore(letter.Attempts))
	position.Parked = &letter
	t.positions[key] = position
	t.changes.Parked[key] = letter
	t.changes.Versions[key] = position.Version // so that there is a position to lock
	t.done.parked[key] = true
	t.done.outcome.Parked++
}

// release lets a parked aggregate go on when the journal has nothing behind its rows. What the source told of while it
// was parked is in the journal, and nobody gets past the lock on the position until this transaction ends: so nothing
// can fall between the last look at the journal and the release.
func (t *transaction) release(ctx context.Context, key usecase.Key) error {
	position := t.positions[key]
	for _, err := range t.projector.journal.EventsAfter(ctx, key, position.Version) {
		switch {
		case err == nil:
			t.done.addGap(gap{key: key, after: position.Version, whole: true, origin: fromRetry})
		case ctx.Err() != nil:
			return context.Cause(ctx)
		default:
			t.park(key, unreachable(position.Parked.SeqNr, err))
		}
		return nil
	}
	position.Parked = nil
	t.positions[key] = position
	t.changes.Versions[key] = position.Version
	delete(t.changes.Parked, key)
	t.changes.Released = append(t.changes.Released, key)
	t.done.outcome.Released++
	return nil
}

// save writes what is different: positions first, so that who came too late finds out before it writes rows.
func (t *transaction) save(ctx context.Context, tx Tx, mark mark) error {
	if len(t.done.gaps) == 0 {
		t.changes.Checkpoint, t.changes.Types = mark.checkpoint, mark.unregistered
	}
	if err := tx.Save(ctx, t.changes); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(t.folds)) {
		if err := t.folds[name].Save(ctx); err != nil {
			return err
		}
	}
	return nil
}

// tell logs what is new about parked aggregates.
func (t *transaction) tell(ctx context.Context, log *slog.Logger) {
	for _, letter := range t.told {
		log.ErrorContext(ctx, "an aggregate is parked: its rows stay as they are until the event can be projected",
			"aggregate", letter.Key.String(), "tenant", letter.Key.Tenant.String(), "seq_nr", letter.SeqNr,
			"event_id", letter.EventID, "reason", letter.Reason)
	}
	for _, key := range t.changes.Released {
		log.InfoContext(ctx, "a parked aggregate has caught up with the journal", "aggregate", key.String(), "tenant", key.Tenant.String())
	}
}
