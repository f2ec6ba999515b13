package projection

import (
	"context"
	"errors"

	"example.com/threads/usecase"
)

// result is what a transaction, or several, have done.
type result struct {
	outcome Outcome
	gaps    []gap                // aggregates that the events at hand do not bring to their target
	changed []Head               // aggregates with other rows than before
	parked  map[usecase.Key]bool // aggregates that are parked now
}

// gap is what an aggregate lacks: the events behind after.
type gap struct {
	key    usecase.Key
	after  uint64
	target uint64 // the journal must have the events up to here
	whole  bool   // what the journal has behind target is wanted, too
	origin origin // of the runs that close it: fromJournal or fromRetry
}

// mark is what is stored with the last of the rows that a batch changes: how far the source is, and the types of the
// records that were left out.
type mark struct {
	checkpoint   Checkpoint
	unregistered []Type
}

// applyAll applies runs in one transaction. When the database refuses them it goes on with one half after the other,
// down to the event that is the reason; that one's aggregate is parked. The mark is stored with the last transaction,
// and only when there are no gaps.
func (p *Projector) applyAll(ctx context.Context, runs []run, mark mark) (result, error) {
	done, err := p.apply(ctx, runs, mark)
	if !errors.Is(err, ErrRefused) {
		return done, err
	}
	left, right, halved := split(runs)
	if halved {
		first, err := p.applyAll(ctx, left, withoutMark)
		if err != nil {
			return first, err
		}
		if len(first.gaps) > 0 {
			mark = withoutMark
		}
		second, err := p.applyAll(ctx, right, mark)
		return first.and(second), err
	}
	if len(runs) == 0 || len(runs[0].events) == 0 {
		return done, err // not an event's fault
	}
	culprit := runs[0]
	event := culprit.events[0]
	culprit.failure = &failure{seqNr: event.SeqNr, eventID: event.EventID, cause: err}
	culprit.events = nil
	return p.apply(ctx, []run{culprit}, mark)
}

var withoutMark mark

// apply applies runs in one transaction, with retries.
func (p *Projector) apply(ctx context.Context, runs []run, mark mark) (result, error) {
	var work *transaction
	err := p.retry(ctx, func() error {
		return p.store.Change(ctx, func(ctx context.Context, tx Tx) (err error) {
			if work, err = p.begin(ctx, tx, runs); err != nil {
				return err
			}
			for _, run := range runs {
				if err := work.apply(ctx, run); err != nil {
					return err
				}
			}
			return work.save(ctx, tx, mark)
		})
	})
	if err != nil {
		return result{}, err
	}
	work.tell(ctx, p.logger)
	if len(work.done.changed) > 0 {
		p.options.Notify(work.done.changed)
	}
	return work.done, nil
}

// and puts the results of two transactions together that followed each other.
func (r result) and(next result) result {
	r.outcome = r.outcome.plus(next.outcome)
	r.changed = append(r.changed, next.changed...)
	for key := range next.parked {
		r.parked[key] = true
	}
	for _, gap := range next.gaps {
		r.addGap(gap)
	}
	return r
}

// addGap notes a gap. An aggregate has one at most: the halves of its events may both have found it.
func (r *result) addGap(found gap) {
	for i, known := range r.gaps {
		if known.key == found.key {
			r.gaps[i].after = max(known.after, found.after)
			r.gaps[i].target = max(known.target, found.target)
			r.gaps[i].whole = known.whole || found.whole
			return
		}
	}
	r.gaps = append(r.gaps, found)
}
