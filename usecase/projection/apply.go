package projection

import (
	"context"
	"errors"

	"example.com/threads/usecase"
)

// pass is what a transaction, or several, have done.
type pass struct {
	outcome Outcome
	gaps    []gap                // threads that the events at hand do not bring to their target
	changed []Head               // threads with other rows than before
	stopped map[usecase.Key]bool // threads that are parked now
}

// gap is what a thread lacks: the events behind after, up to target.
type gap struct {
	key    usecase.Key
	after  uint64
	target uint64
	origin origin // of the runs that close it: fromJournal or fromRetry
}

// applyAll applies runs in one transaction. When the database refuses them it goes on with one half after the other, down to
// the event that is the reason; that one's thread is parked. The checkpoint is stored with the last transaction, and only
// when there are no gaps.
func (p *Projector) applyAll(ctx context.Context, runs []run, checkpoint Checkpoint) (pass, error) {
	done, err := p.apply(ctx, runs, checkpoint)
	if !errors.Is(err, ErrRefused) {
		return done, err
	}
	left, right, halved := split(runs)
	if halved {
		first, err := p.applyAll(ctx, left, Checkpoint{})
		if err != nil {
			return first, err
		}
		if len(first.gaps) > 0 {
			checkpoint = Checkpoint{}
		}
		second, err := p.applyAll(ctx, right, checkpoint)
		return first.and(second), err
	}
	if len(runs) == 0 || len(runs[0].events) == 0 {
		return done, err // not an event's fault
	}
	culprit := runs[0]
	event := culprit.events[0]
	culprit.failure = &failure{seqNr: event.SeqNr, eventID: event.EventID, cause: err}
	culprit.events = nil
	return p.apply(ctx, []run{culprit}, checkpoint)
}

// apply applies runs in one transaction, with retries.
func (p *Projector) apply(ctx context.Context, runs []run, checkpoint Checkpoint) (pass, error) {
	var work *transaction
	err := p.retry(ctx, func() error {
		return p.readModel.Change(ctx, func(ctx context.Context, tx Tx) error {
			rows, err := tx.Load(ctx, wantedBy(runs))
			if err != nil {
				return err
			}
			work = p.begin(rows)
			for _, run := range runs {
				if err := work.apply(ctx, run); err != nil {
					return err
				}
			}
			if len(work.done.gaps) == 0 {
				work.changes.Checkpoint = checkpoint
			}
			return tx.Save(ctx, work.changes)
		})
	})
	if err != nil {
		return pass{}, err
	}
	for _, letter := range work.changes.Rows.Parked {
		p.logger.ErrorContext(ctx, "a thread is parked: its rows stay as they are until the event can be projected", "tenant", letter.Key.Tenant.String(),
			"thread", letter.Key.ID, "seq_nr", letter.SeqNr, "event_id", letter.EventID, "reason", letter.Reason,
			"attempts", letter.Attempts, "retry_at", letter.RetryAt)
	}
	if len(work.done.changed) > 0 {
		p.options.Notify(work.done.changed)
	}
	return work.done, nil
}

// and puts two passes that followed each other together.
func (p pass) and(next pass) pass {
	p.outcome = p.outcome.plus(next.outcome)
	p.changed = append(p.changed, next.changed...)
	for key := range next.stopped {
		p.stopped[key] = true
	}
	for _, gap := range next.gaps {
		p.addGap(gap)
	}
	return p
}

// addGap notes a gap. A thread has one at most: the halves of its events may both have found it.
func (p *pass) addGap(found gap) {
	for i, known := range p.gaps {
		if known.key == found.key {
			p.gaps[i].after = max(known.after, found.after)
			p.gaps[i].target = max(known.target, found.target)
			return
		}
	}
	p.gaps = append(p.gaps, found)
}
