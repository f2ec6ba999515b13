package projection

import (
	"context"
	"fmt"
	"slices"

	"golang.org/x/sync/errgroup"

	"example.com/threads/es"
)

const (
	journalAttempts = 3
	gapsAtOnce      = 4 // are read from the journal at once
)

// fill applies the events of gaps, read from the journal in order, FillEvents at a time, and stores last with the last.
func (p *Projector) fill(ctx context.Context, gaps []eventGap, last Changes) (Outcome, error) {
	var total Outcome
	for stored := len(gaps) == 0; !stored; {
		chunk, left, err := p.readGaps(ctx, gaps)
		if err != nil {
			return total, err
		}
		finished, toStore := len(left) == 0, Changes{}
		if finished {
			toStore = last
		}
		busy := slices.DeleteFunc(slices.Clone(chunk), func(run eventRun) bool { return len(run.events) == 0 })
		idle := slices.DeleteFunc(chunk, func(run eventRun) bool { return len(run.events) > 0 }) // may be released
		done, err := p.applyBoth(ctx, busy, idle, toStore)
		total = total.plus(done.outcome)
		if err != nil {
			return total, err
		}
		left = slices.DeleteFunc(left, func(gap eventGap) bool { return done.parked[gap.key] })
		gaps = append(left, done.gaps...)
		stored = finished && len(done.gaps) == 0
	}
	return total, nil
}

// readGaps reads at most FillEvents, some gaps at once. It returns them, and what is left of all gaps.
func (p *Projector) readGaps(ctx context.Context, gaps []eventGap) (chunk []eventRun, left []eventGap, err error) {
	for rest := p.options.FillEvents; rest > 0 && len(gaps) > 0; {
		some := gaps[:min(len(gaps), gapsAtOnce, rest)]
		pieces := make([]eventRun, len(some))
		group, groupCtx := errgroup.WithContext(ctx)
		for i, gap := range some {
			group.Go(func() (err error) {
				pieces[i], err = p.read(groupCtx, gap, rest/len(some))
				return err
			})
		}
		if err := group.Wait(); err != nil {
			return nil, nil, err
		}
		for i, piece := range pieces {
			rest -= len(piece.events)
			if !piece.complete && piece.failure == nil {
				some[i].after = piece.last()
				left = append(left, some[i])
			}
		}
		chunk, gaps = append(chunk, pieces...), gaps[len(some):]
	}
	return chunk, append(left, gaps...), nil
}

// read reads at most left events of a gap. What stops this aggregate alone is the run's failure; an error is ctx's.
func (p *Projector) read(ctx context.Context, gap eventGap, left int) (eventRun, error) {
	piece := eventRun{key: gap.key, target: gap.target, origin: gap.origin}
	for attempt := 1; ; attempt++ {
		err := p.readEvents(ctx, gap, left, &piece)
		gap.after = max(gap.after, piece.last())
		switch {
		case ctx.Err() != nil:
			return piece, context.Cause(ctx)
		case err != nil && attempt < journalAttempts:
			_ = es.Wait(ctx, es.Backoff(retryPause, longestRetryPause, attempt-1)) // the next sees its end
			continue
		case err != nil:
			piece.failure = unreachable(max(gap.target, gap.after+1), err)
		case piece.failure == nil && piece.complete && gap.after < gap.target:
			piece.failure = p.missing(ctx, gap)
		}
		return piece, nil
	}
}

// missing returns why the journal ends, at gap.after, before the event that a gap should reach. nil: a parked aggregate
// waits for an event that neither the head nor the journal has any more, so there is nothing to wait for.
func (p *Projector) missing(ctx context.Context, gap eventGap) *failure {
	if gap.origin == fromRetry {
		lost, err := p.Ahead(ctx, AtVersion{Key: gap.key, Version: gap.target + 1})
		switch {
		case err != nil && es.KindOf(err) != es.Inconsistent:
			return unreachable(gap.target, err)
		case err == nil && lost:
			return nil
		}
	}
	return &failure{seqNr: gap.target, cause: fmt.Errorf(
		"the source delivered event %d, but by its head the aggregate ends with event %d (0: there is no head): head and journal "+
			"contradict each other; mend the head as a journal check says, and the aggregate continues by itself", gap.target, gap.after)}
}

// readEvents appends events to piece. It stops when the gap is filled or the journal ends (then piece is complete), or
// after left events. An event that cannot be decoded becomes the piece's failure; an error is the journal's.
func (p *Projector) readEvents(ctx context.Context, gap eventGap, left int, piece *eventRun) error {
	if !gap.whole && gap.after >= gap.target {
		piece.complete = true
		return nil
	}
	for record, err := range p.eventsAfter(ctx, gap.key, gap.after) {
		if err != nil {
			return err
		}
		event, err := p.decode(record, p.options.Skipped)
		if err != nil {
			piece.failure = &failure{seqNr: record.SeqNr, eventID: event.EventID, cause: fmt.Errorf("the event can't be read: %w", err)}
			return nil
		}
		piece.events = append(piece.events, event)
		if !gap.whole && event.SeqNr >= gap.target {
			break
		}
		if len(piece.events) >= left {
			return nil
		}
	}
	piece.complete = true
	return nil
}

// unreachable is the failure of an aggregate whose events, up to seqNr, cannot be read from the journal.
func unreachable(seqNr uint64, err error) *failure {
	return &failure{seqNr: seqNr, unreachable: true, cause: fmt.Errorf("the journal can't be read: %w", err)}
}

const parkedPage = 100

// RetryParked retries the parked aggregates whose retry time has come, up to the end of the journal. The first call of
// a projector, unless it has OnlyDue, retries all of them, because a newer program may be able to project them. The
// backoff doubles with each attempt, from a second to five minutes. What was not retried because of an error is retried
// by the next call.
func (p *Projector) RetryParked(ctx context.Context) (total Outcome, err error) {
	defer func() { p.options.Observe(total, 0, 0) }()
	due := p.options.Now()
	if !p.woken.Load() && !p.options.OnlyDue {
		due = due.AddDate(1, 0, 0)
	}
	for after, more := (es.AggregateID{}), true; more; {
		letters, err := p.store.Parked(ctx, due, after, parkedPage)
		if err != nil {
			return total, fmt.Errorf("list the parked aggregates: %w", err)
		}
		more = len(letters) == parkedPage
		var gaps []eventGap
		for _, letter := range letters {
			after = letter.Key
			gaps = append(gaps, eventGap{key: letter.Key, target: letter.SeqNr, whole: true, origin: fromRetry})
		}
		outcome, err := p.fillAfterRows(ctx, gaps)
		total = total.plus(outcome)
		if err != nil {
			return total, err
		}
	}
	p.woken.Store(true)
	return total, nil
}

// fillAfterRows fills gaps that begin after the rows, of the aggregates that have a handler.
func (p *Projector) fillAfterRows(ctx context.Context, gaps []eventGap) (Outcome, error) {
	gaps = slices.DeleteFunc(gaps, func(gap eventGap) bool { return p.handlers[gap.key.Type] == nil })
	if len(gaps) == 0 {
		return Outcome{}, nil
	}
	versions, err := p.store.Versions(ctx, keysOf(gaps, func(gap eventGap) es.AggregateID { return gap.key }))
	if err != nil {
		return Outcome{}, fmt.Errorf("read positions: %w", err)
	}
	for i := range gaps {
		gaps[i].after = versions[gaps[i].key]
	}
	return p.fill(ctx, gaps, Changes{})
}
