package es

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"time"
)

// turnAfterConflicts is the number of conflicts after which a process asks the other writers for a turn, and again
// after each further such number.
const turnAfterConflicts = 2

// attempt is one try to handle a batch.
type attempt[S any] struct {
	state State[S]
	fresh bool // the state was read from the store, not from memory
	began time.Time
}

// handle runs load -> decide -> save for the calls of a batch until each has its answer. A write is conditional on the
// version that the decisions were made on. A successful write therefore proves its events, and the rejections in the
// same batch. A batch of rejections only is answered after [Repository.Confirm] has shown that the state was the
// latest, unless the state was read from the store.
func (s *Service[S, C, E]) handle(ctx context.Context, key AggregateID, calls []*call[C]) {
	conflicts, shortest := 0, s.settings.Timeout
	try, err := s.begin(ctx, key, calls[0])
	for err == nil && len(calls) > 0 {
		var now time.Time
		if now, err = s.now(ctx); err != nil {
			s.settings.Logger.ErrorContext(ctx, "commands are refused because this computer's clock is wrong", "error", err)
			break
		}
		decided, after := s.decide(key, try.state, now, calls)
		err = s.save(ctx, key, try, after, decided)
		var handled *HandledError
		switch {
		case err == nil:
			s.answer(ctx, decided)
			calls, try = calls[len(decided):], attempt[S]{state: after, began: time.Now()}
			continue
		case errors.As(err, &handled):
			// The receipt answers this call; the other calls of the batch are decided again.
			calls = s.answerHandled(calls, handled.Receipt)
		case errors.Is(err, ErrConflict):
			conflicts++
			s.settings.Metrics.conflicts.Inc()
			s.turns.met(key, try.state.Version)
			if conflicts%turnAfterConflicts == 0 {
				// The faster writers may not know that this one is waiting. An error is ignored: the store will report
				// it at the next read or write.
				_ = s.AskForTurn(ctx, key)
			}
			shortest = min(shortest, time.Since(try.began))
			if !again(ctx, shortest) {
				s.giveUp(ctx, key, calls, conflicts)
				return
			}
		default:
			s.fail(ctx, key, calls, err)
			return
		}
		if len(calls) == 0 {
			return
		}
		if try, err = s.reload(ctx, key); err != nil && conflicts > 0 && ctx.Err() != nil {
			s.giveUp(ctx, key, calls, conflicts) // the timeout has come during the reload; nothing was written
			return
		}
	}
	if len(calls) > 0 {
		s.fail(ctx, key, calls, err)
	}
}

// fail answers all calls with the error.
func (s *Service[S, C, E]) fail(ctx context.Context, key AggregateID, calls []*call[C], err error) {
	s.report(ctx, key, err)
	for _, c := range calls {
		c.answer(Result{}, err)
	}
}

// begin loads the state for the first attempt. While other processes write to the aggregate, the state in memory is
// seldom the latest, so it is read from the store.
func (s *Service[S, C, E]) begin(ctx context.Context, key AggregateID, first *call[C]) (attempt[S], error) {
	began := time.Now()
	switch {
	case first.request.Begins:
		return attempt[S]{began: began}, nil
	case s.turns.others(key):
		return s.reload(ctx, key)
	}
	state, err := s.Load(ctx, key)
	return attempt[S]{state: state, began: began}, err
}

func (s *Service[S, C, E]) reload(ctx context.Context, key AggregateID) (attempt[S], error) {
	began := time.Now()
	state, err := s.Reload(ctx, key)
	if err == nil {
		s.turns.reloaded(key, state.Version)
	}
	return attempt[S]{state, true, began}, err
}

// again waits a random time before the next attempt, so that processes in conflict do not collide again. It returns
// false when the time left is shorter than the shortest attempt so far.
func again(ctx context.Context, takes time.Duration) bool {
	_ = Wait(ctx, rand.N(min(takes/2, longestYield)+1)) // ctx is checked below
	deadline, limited := ctx.Deadline()
	return ctx.Err() == nil && (!limited || time.Until(deadline) > takes)
}

func (s *Service[S, C, E]) giveUp(ctx context.Context, key AggregateID, calls []*call[C], attempts int) {
	s.settings.Metrics.givenUp.Add(float64(len(calls)))
	s.settings.Logger.WarnContext(ctx, "commands failed: other writers kept changing the aggregate until the timeout",
		"tenant", key.Tenant, "aggregate", key.String(), "attempts", attempts, "commands", len(calls))
	for _, c := range calls {
		c.answer(Result{}, ErrConcurrentUpdate)
	}
}

// save writes the accepted commands. If all were rejected, it confirms that the rejections hold: ErrConflict if not.
func (s *Service[S, C, E]) save(ctx context.Context, key AggregateID, try attempt[S], after State[S], decided []decision[C, E]) error {
	write := Write[S, E]{Before: try.state.Version, After: after, Heed: !s.turns.others(key)}
	for _, d := range decided {
		if d.err != nil {
			continue
		}
		write.Events = append(write.Events, d.events...)
		if d.call.request.IdempotencyKey != "" {
			answer, err := d.result.answer()
			if err != nil {
				return err
			}
			write.Receipts = append(write.Receipts, Receipt{
				CommandID:   d.call.commandID,
				Fingerprint: d.call.request.fingerprint(),
				Answer:      answer,
				ExpiresAt:   s.settings.Clock().Add(receiptLifetime),
			})
		}
	}
	if len(write.Events) > 0 {
		ctx, span := startAppend(ctx, decided, len(write.Events))
		err := s.Save(ctx, key, write)
		span.End()
		if err == nil {
			s.settings.Metrics.perWrite.Observe(float64(len(decided)))
			s.settings.Metrics.events.Observe(float64(len(write.Events)))
			s.turns.wrote(key, after.Version, time.Since(try.began))
		}
		return err
	}
	if try.fresh && try.state.Version > 0 {
		return nil
	}
	return s.Confirm(ctx, key, try.state.Version)
}

// answer sends the decisions to the callers. A repeat of a command that succeeded is often rejected, because its change
// is already made or its version has passed. So for a rejected call with a key the receipt is looked up first.
func (s *Service[S, C, E]) answer(ctx context.Context, decided []decision[C, E]) {
	for _, d := range decided {
		if d.err != nil && d.call.request.IdempotencyKey != "" {
			receipt, found, err := s.Receipt(ctx, d.call.request.Caller.Tenant, d.call.commandID)
			if err != nil {
				d.call.answer(Result{}, err)
				continue
			}
			if found {
				s.replay(d.call, receipt)
				continue
			}
		}
		d.call.answer(d.result, d.err)
	}
}

// answerHandled answers the call that the receipt belongs to and returns the others.
func (s *Service[S, C, E]) answerHandled(calls []*call[C], receipt Receipt) []*call[C] {
	return slices.DeleteFunc(slices.Clone(calls), func(c *call[C]) bool {
		about := c.commandID == receipt.CommandID
		if about {
			s.replay(c, receipt)
		}
		return about
	})
}

// replay answers the call with the result of the first execution.
func (s *Service[S, C, E]) replay(c *call[C], receipt Receipt) {
	if !c.request.isRepeatOf(receipt) {
		c.answer(Result{}, ErrKeyReused)
		return
	}
	result, err := receipt.result(c.request.Caller.Tenant, s.Type())
	result.Replayed = err == nil
	c.answer(result, err)
}
