package projection

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime/debug"
	"time"

	"example.com/threads/es"
)

// result is the outcome of one or more transactions.
type result struct {
	outcome Outcome
	gaps    []eventGap              // aggregates that the given events do not bring to their target
	parked  map[es.AggregateID]bool // aggregates that are parked afterwards
}

// eventGap is a range of an aggregate's events that is missing from the rows: those above after.
type eventGap struct {
	key    es.AggregateID
	after  uint64
	target uint64 // the journal must have the events up to here
	whole  bool   // read to the end of the journal, beyond target
	origin origin // of the runs that fill the gap: fromJournal or fromRetry
}

// applyAll applies runs in one transaction. If the database refuses them, it applies the halves one after the other,
// down to the single event that causes the error; the aggregate of that event is parked. The mark, a checkpoint and the
// types that were skipped, is stored with the last transaction, and only when there are no gaps.
func (p *Projector) applyAll(ctx context.Context, runs []eventRun, mark Changes) (result, error) {
	done, err := p.apply(ctx, runs, mark)
	if !errors.Is(err, ErrRefused) {
		return done, err
	}
	left, right, halved := split(runs)
	if halved {
		return p.applyBoth(ctx, left, right, mark)
	}
	if len(runs) == 0 || len(runs[0].events) == 0 {
		return done, err // no event causes the error
	}
	culprit, event := runs[0], runs[0].events[0]
	culprit.failure = &failure{seqNr: event.SeqNr, eventID: event.EventID, cause: err}
	culprit.events = nil
	return p.apply(ctx, []eventRun{culprit}, mark)
}

// applyBoth applies runs, and then others in transactions of their own, as applyAll does.
func (p *Projector) applyBoth(ctx context.Context, left, right []eventRun, mark Changes) (result, error) {
	switch {
	case len(left) == 0:
		return p.applyAll(ctx, right, mark)
	case len(right) == 0:
		return p.applyAll(ctx, left, mark)
	}
	first, err := p.applyAll(ctx, left, Changes{})
	if err != nil {
		return first, err
	}
	if len(first.gaps) > 0 {
		mark = Changes{}
	}
	second, err := p.applyAll(ctx, right, mark)
	return first.and(second), err
}

// apply applies runs in one transaction, with retries.
func (p *Projector) apply(ctx context.Context, runs []eventRun, mark Changes) (result, error) {
	var work *transaction
	began, saved := time.Now(), time.Time{}
	err := p.retry(ctx, func() error {
		return p.store.Change(ctx, func(ctx context.Context, tx Tx) (err error) {
			defer p.recovered(&err)
			if work, err = p.begin(ctx, tx, runs); err != nil {
				return err
			}
			for _, run := range runs {
				if err := work.apply(ctx, run); err != nil {
					return err
				}
			}
			err = work.save(ctx, tx, mark)
			saved = time.Now()
			return err
		})
	})
	if err != nil {
		return result{}, err
	}
	p.continueTraces(ctx, work.traced, began, saved, time.Now())
	work.report(ctx, p.logger)
	if len(work.changed) > 0 {
		p.options.Notify(work.changed)
	}
	return work.done, nil
}

// recovered, deferred, turns a panic of a handler into [ErrRefused]: the event that causes it parks its aggregate, and
// a verification ends with an error.
func (p *Projector) recovered(err *error) {
	if reason := recover(); reason != nil {
		p.logger.Error("panic while projecting", "reason", reason, "stack", string(debug.Stack()))
		*err = fmt.Errorf("%w: panic: %v", ErrRefused, reason)
	}
}

// and adds the result of the transaction that followed.
func (r result) and(next result) result {
	r.outcome = r.outcome.plus(next.outcome)
	maps.Copy(r.parked, next.parked)
	r.gaps = append(r.gaps, next.gaps...)
	return r
}

const (
	retryPause        = 5 * time.Millisecond
	longestRetryPause = time.Second
	// between the attempts on a parked aggregate
	parkedPause        = time.Second
	longestParkedPause = 5 * time.Minute
)

// retry calls try until it succeeds, fails with an error other than ErrTransient, or has used its attempts.
func (p *Projector) retry(ctx context.Context, try func() error) error {
	for failures := 0; ; failures++ {
		err := try()
		switch {
		case !errors.Is(err, ErrTransient):
			return err
		case failures+1 == p.options.Attempts:
			return fmt.Errorf("given up after %d attempts: %w", p.options.Attempts, err)
		}
		if err := es.Wait(ctx, es.Backoff(retryPause, longestRetryPause, failures)); err != nil {
			return err
		}
	}
}
