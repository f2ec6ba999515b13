package projection

import (
	"context"
	"errors"
	"fmt"
	"time"

	"example.com/threads/usecase"
)

// transaction is one transaction in the making: the rows as they will be, and what is different about them.
type transaction struct {
	journal Journal
	rows    Rows
	changes Changes
	done    pass
}

func (p *Projector) begin(rows Rows) *transaction {
	return &transaction{
		journal: p.journal,
		rows:    rows,
		changes: Changes{Rows: NewRows(), At: p.options.Now()},
		done:    pass{stopped: make(map[usecase.Key]bool)},
	}
}

// apply folds a run into the rows, as far as it goes, and sees to what is missing behind it. An error is ctx's, or of a
// read model that went back.
func (t *transaction) apply(ctx context.Context, run run) error {
	before := t.rows.Threads[run.key].Version
	if _, parked := t.rows.Parked[run.key]; parked && run.origin != fromRetry {
		t.hold(run, before)
		return nil
	}
	unfit := t.fold(run)
	version := t.rows.Threads[run.key].Version
	if version > before {
		t.done.changed = append(t.done.changed, Head{Key: run.key, Version: version})
	}

	reached := version >= lastOf(run)
	switch {
	case unfit != nil && run.origin != fromSource:
		t.park(run.key, *unfit)
	case reached && run.failure != nil && version < run.failure.seqNr:
		t.park(run.key, *run.failure)
	case reached && run.failure != nil:
		// Another projector got past it in the meantime: look again what there is behind.
		t.done.addGap(gap{key: run.key, after: version, target: run.target, origin: max(run.origin, fromJournal)})
	case run.origin == fromSource && version < run.target:
		t.done.addGap(gap{key: run.key, after: version, target: run.target, origin: fromJournal})
	case run.origin == fromJournal && !reached:
		return errMovedBack
	case run.origin == fromRetry && reached && run.complete:
		return t.release(ctx, run.key, version)
	}
	return nil
}

// fold applies the events of run that come next, and leaves out those that the rows have already. It stops at a gap,
// and at an event that does not fit, which is the failure.
func (t *transaction) fold(run run) *failure {
	for _, event := range run.events {
		version := t.rows.Threads[run.key].Version
		switch {
		case event.SeqNr <= version:
			if run.origin == fromSource {
				t.done.outcome.Duplicates++
			}
			continue
		case event.SeqNr > version+1:
			return nil
		}
		changed, err := changeBy(t.rows, event)
		if err != nil {
			return &failure{seqNr: event.SeqNr, eventID: event.EventID, cause: fmt.Errorf("it can't be applied: %w", err)}
		}
		t.rows.add(changed)
		t.changes.Rows.add(changed)
		if run.origin == fromSource {
			t.done.outcome.Applied++
		} else {
			t.done.outcome.Filled++
		}
	}
	return nil
}

// hold leaves a parked thread as it is. Its events are in the journal, from where the retry will take them.
func (t *transaction) hold(run run, version uint64) {
	t.done.stopped[run.key] = true
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

// park stops a thread before the event that failed.
func (t *transaction) park(key usecase.Key, failed failure) {
	letter := DeadLetter{
		Key: key, SeqNr: failed.seqNr, EventID: failed.eventID, Payload: failed.payload, Reason: failed.cause.Error(),
		Attempts: 1, ParkedAt: t.changes.At,
	}
	if known, parked := t.rows.Parked[key]; parked {
		letter.ParkedAt = known.ParkedAt
		if known.SeqNr == letter.SeqNr {
			letter.Attempts = known.Attempts + 1
		}
	}
	letter.RetryAt = t.changes.At.Add(pauseBefore(letter.Attempts, parkedPause, longestParkedPause))
	t.rows.Parked[key] = letter
	t.changes.Rows.Parked[key] = letter
	t.done.stopped[key] = true
	t.done.outcome.Parked++
}

// release lets a parked thread go on when the journal has nothing behind its rows. What the source told of while the
// thread was parked is in the journal, and nobody gets past the lock on the dead letter until this transaction ends: so
// nothing can fall between the last look at the journal and the release.
func (t *transaction) release(ctx context.Context, key usecase.Key, version uint64) error {
	for _, err := range t.journal.EventsAfter(ctx, key, version) {
		var unreadable *UnreadableError
		switch {
		case err == nil, errors.As(err, &unreadable):
			t.done.addGap(gap{key: key, after: version, target: endOfJournal, origin: fromRetry})
			return nil
		case ctx.Err() != nil:
			return context.Cause(ctx)
		default:
			t.park(key, unreachable(version, err))
			return nil
		}
	}
	delete(t.rows.Parked, key)
	t.changes.Released = append(t.changes.Released, key)
	t.done.outcome.Released++
	return nil
}

func lastOf(run run) uint64 {
	if len(run.events) == 0 {
		return 0
	}
	return run.events[len(run.events)-1].SeqNr
}

const (
	parkedPause        = time.Second
	longestParkedPause = 5 * time.Minute
)
