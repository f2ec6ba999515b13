package es

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"runtime/debug"
	"slices"
	"sync"
	"time"
)

// attempt is one try to handle a batch.
type attempt[S any] struct {
	state State[S]
	fresh bool // the state was read from the store, not from memory
	began time.Time
}

// handle runs load -> decide -> save for the calls of a batch until each has its answer. A write is conditional on the
// version that the batch was decided on. If it succeeds, that was the latest, so the batch's rejections hold, too.
func (s *Service[S, C, E]) handle(key AggregateID, calls []*call[C, E]) {
	// An attempt is completed even if the caller whose context it uses disconnects.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(calls[0].ctx), s.settings.Timeout)
	defer cancel()
	defer func() {
		if reason := recover(); reason != nil { // one command must not crash the program
			fail(calls, panicked("handling a command", reason))
		}
	}()
	conflicts, shortest := 0, s.settings.Timeout
	try, err := attempt[S]{began: time.Now()}, error(nil)
	if !calls[0].request.Begins {
		try, err = s.load(ctx, key, s.fairness.others(key))
	}
	for err == nil && len(calls) > 0 {
		var decided []*call[C, E]
		var after State[S]
		if decided, after, err = s.decide(ctx, key, try.state, calls); err == nil {
			err = s.write(ctx, key, try, after, decided)
		}
		var handled *HandledError
		switch {
		case err == nil:
			s.answer(ctx, decided)
			calls, try = calls[len(decided):], attempt[S]{state: after, began: time.Now()}
			continue
		case errors.As(err, &handled):
			// The receipt answers its call; the other calls of the batch are decided again.
			i := slices.IndexFunc(calls, func(c *call[C, E]) bool { return c.commandID == handled.Receipt.CommandID })
			calls[i].answer(calls[i].request.repeated(handled.Receipt, s.Type()))
			if calls = slices.Delete(slices.Clone(calls), i, i+1); len(calls) == 0 {
				return
			}
			try, err = s.load(ctx, key, true)
		case errors.Is(err, ErrConflict):
			conflicts++
			s.settings.Metrics.conflicts.Inc()
			s.fairness.met(key)
			// Whoever has gone may send the command again, and must not be told that it is rejected and see it applied
			// later by this attempt, of which nothing is written.
			if calls = withoutAbandoned(calls); len(calls) == 0 {
				return
			}
			if conflicts%askAfterConflicts == 0 {
				// The faster writers may not know that this one is waiting. The next read or write reports an error.
				_ = s.gateway.AskToYield(ctx, key)
			}
			shortest = min(shortest, time.Since(try.began))
			if again(ctx, shortest) {
				try, err = s.load(ctx, key, true)
			}
			if err != nil && (ctx.Err() != nil || errors.Is(err, ErrConflict)) { // nothing was written
				s.settings.Metrics.givenUp.Add(float64(len(calls)))
				s.settings.Logger.WarnContext(ctx, "commands failed: other writers kept changing the aggregate until the timeout",
					"tenant", key.Tenant, "aggregate", key.String(), "attempts", conflicts, "commands", len(calls))
				err = ErrConcurrentUpdate
			}
		case KindOf(err) == Internal && len(calls) > 1 && (decided == nil || s.confirm(ctx, key, try.state.Version) == nil):
			// Nothing was written: a decision panicked, or the store refuses all events together, or those of one.
			for _, c := range calls { // each within a timeout of its own, while the first caller waits
				s.handle(key, []*call[C, E]{c})
			}
			return
		}
	}
	if err != nil {
		s.report(ctx, key, err)
		fail(calls, err)
	}
}

func panicked(doing string, reason any) error {
	return fmt.Errorf("panic while %s: %v\n%s", doing, reason, debug.Stack())
}

// withoutAbandoned ends the calls whose callers have gone, and returns the others.
func withoutAbandoned[C, E any](calls []*call[C, E]) []*call[C, E] {
	return slices.DeleteFunc(slices.Clone(calls), func(c *call[C, E]) bool {
		gone := context.Cause(c.ctx)
		if gone != nil {
			c.answer(Result{}, gone)
		}
		return gone != nil
	})
}

// fail answers the calls that have no answer yet.
func fail[C, E any](calls []*call[C, E], err error) {
	for _, c := range calls {
		c.answer(Result{}, err)
	}
}

// load loads the state for an attempt: fresh while other processes write, because the one in memory is then stale.
func (s *Service[S, C, E]) load(ctx context.Context, key AggregateID, fresh bool) (try attempt[S], err error) {
	try = attempt[S]{fresh: fresh, began: time.Now()}
	if !fresh {
		try.state, err = s.Load(ctx, key)
		return try, err
	}
	known, _ := s.states.get(key)
	try.state, err = s.Reload(ctx, key)
	if err == nil && try.state.Version > known.Version { // another process has written it
		s.fairness.met(key)
	}
	return try, err
}

// decide decides the calls in order, each on the state after the accepted ones before it, as long as their events fit
// into one write. It returns the decided calls and the state after them.
func (s *Service[S, C, E]) decide(
	ctx context.Context, key AggregateID, state State[S], calls []*call[C, E],
) (decided []*call[C, E], after State[S], err error) {
	defer func() {
		if reason := recover(); reason != nil {
			err = panicked("handling a command", reason)
		}
	}()
	now, err := s.now(ctx)
	if err != nil {
		return nil, state, err
	}
	size := 0
	for i, c := range calls {
		events, err := s.decideOne(state.Version, state.Value, c.request)
		if err == nil {
			size += len(events) + min(len(c.request.IdempotencyKey), 1) // and its receipt
		}
		if size > MaxAppend && i > 0 {
			return calls[:i], state, nil
		}
		c.events, c.result, c.err = nil, Result{}, err
		if err != nil {
			continue
		}
		for _, event := range events {
			state = State[S]{state.Version + 1, s.aggregate.Apply(state.Value, event)}
			c.events = append(c.events, c.record(key, state.Version, now, event))
		}
		c.result = Result{Key: key, Version: state.Version, About: s.aggregate.Answer(events)}
	}
	return calls, state, nil
}

// decideOne calls the decider and checks IfVersion.
func (s *Service[S, C, E]) decideOne(version uint64, state S, request Request[C]) ([]E, error) {
	events, err := s.aggregate.Decide(state, request.Command)
	if kind := KindOf(err); err != nil && (kind == Forbidden || kind == NotFound || s.aggregate.Usable(state) != nil) {
		return nil, err // a stranger does not learn the version; once the aggregate has ended, nobody does
	}
	if expected := request.IfVersion; expected != 0 && !request.Begins && expected != version {
		return nil, &VersionMismatchError{Expected: expected, Current: version}
	}
	if err == nil && len(events) == 0 {
		err = fmt.Errorf("command %s was accepted without events; the decider must reject a command that changes nothing", request.Name)
	}
	return events, err
}

func (c *call[C, E]) record(key AggregateID, seqNr uint64, now time.Time, event E) Recorded[E] {
	caller := c.request.Caller
	if caller.CausationID == "" {
		caller.CausationID = c.commandID // without another cause, the command is the cause of its events
	}
	return Recorded[E]{Event: event, Envelope: Envelope{
		EventID: newID(now), AggregateType: key.Type, AggregateID: key.ID, SeqNr: seqNr, OccurredAt: now,
		CommandID: c.commandID, Traceparent: c.traceparent, Caller: caller,
	}}
}

// write saves the accepted commands' events. Without any, it confirms that a state from memory is the latest.
func (s *Service[S, C, E]) write(ctx context.Context, key AggregateID, try attempt[S], after State[S], decided []*call[C, E]) error {
	var events []Recorded[E]
	var receipts []Receipt
	for _, c := range decided {
		if events = append(events, c.events...); c.err == nil && c.request.IdempotencyKey != "" {
			receipt, err := c.request.receipt(c.commandID, c.result, s.settings.Clock())
			if err != nil {
				return err
			}
			receipts = append(receipts, receipt)
		}
	}
	if len(events) == 0 {
		if try.fresh && try.state.Version > 0 {
			return nil
		}
		return s.confirm(ctx, key, try.state.Version)
	}
	ctx, span := startAppend(ctx, decided, len(events))
	err := s.save(ctx, key, try.state.Version, after, events, receipts, !s.fairness.others(key))
	span.End()
	if err == nil {
		s.settings.Metrics.perWrite.Observe(float64(len(decided)))
		s.settings.Metrics.events.Observe(float64(len(events)))
		s.fairness.wrote(key, time.Since(try.began))
	}
	return err
}

// answer sends the decisions to the callers. A repeat of a command that succeeded is often rejected, because its change
// is already made or its version has passed. So for a rejected call with a key the receipt is looked up first.
func (s *Service[S, C, E]) answer(ctx context.Context, decided []*call[C, E]) {
	for _, c := range decided {
		if c.err != nil && c.request.IdempotencyKey != "" {
			receipt, found, err := s.gateway.Receipt(ctx, c.request.Caller.Tenant, c.commandID)
			switch {
			case err != nil:
				c.err = err
			case found:
				c.result, c.err = c.request.repeated(receipt, s.Type())
			}
		}
		c.answer(c.result, c.err)
	}
}

// again waits a random time before the next attempt, so that processes in conflict do not collide again. It returns
// false when the time left is shorter than the shortest attempt so far.
func again(ctx context.Context, takes time.Duration) bool {
	_ = Wait(ctx, rand.N(min(takes/2, longestYield)+1)) // ctx is checked below
	deadline, limited := ctx.Deadline()
	return ctx.Err() == nil && (!limited || time.Until(deadline) > takes)
}

const (
	// askAfterConflicts is the number of conflicts after each of which a process asks the other writers to yield.
	askAfterConflicts = 2
	// contentionFades is how long an aggregate is treated as contended after the last sign of another writer.
	contentionFades = time.Second
	// longestYield is the maximum time that a process waits for the others, however slow its store is.
	longestYield = 100 * time.Millisecond
)

// fairness shares an aggregate fairly between processes. The one that has just written would always write next, because
// the others must first read its write. So it waits as long as they need to read, if it knows of others.
type fairness struct {
	mutex     sync.Mutex
	contended map[AggregateID]contention
}

type contention struct {
	fades  time.Time // when the aggregate is no longer treated as contended
	yields time.Time // until when this process waits for the others
}

// met records a sign of another process: a conflict, or a version that it wrote.
func (t *fairness) met(key AggregateID) {
	now := time.Now()
	t.mutex.Lock()
	defer t.mutex.Unlock()
	maps.DeleteFunc(t.contended, func(_ AggregateID, c contention) bool { return now.After(c.fades) })
	t.contended[key] = contention{now.Add(contentionFades), t.contended[key].yields}
}

func (t *fairness) at(key AggregateID) contention {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	return t.contended[key]
}

// others reports whether other processes are known to write to the aggregate.
func (t *fairness) others(key AggregateID) bool { return time.Now().Before(t.at(key).fades) }

// wrote records that this process wrote. took estimates the time that another process needs for its write.
func (t *fairness) wrote(key AggregateID, took time.Duration) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	if c, contended := t.contended[key]; contended {
		took = min(took, longestYield/2)
		t.contended[key] = contention{c.fades, time.Now().Add(took + rand.N(took+1))}
	}
}

// yield waits until the other processes have written. Commands that arrive meanwhile share the next write.
func (t *fairness) yield(key AggregateID) {
	if wait := time.Until(t.at(key).yields); wait > 0 {
		<-time.After(wait)
	}
}
