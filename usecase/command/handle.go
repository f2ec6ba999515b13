package command

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"time"

	"example.com/threads/usecase"
)

// askEvery is after how many conflicts a process asks the others for a turn, each time.
const askEvery = 2

// attempt is one try at a batch.
type attempt[S any] struct {
	state State[S]
	fresh bool // the state comes from the store, not from memory
	began time.Time
}

// handle is load -> decide -> save for the calls of a batch, until each has its answer. The write's condition on the
// version is what decisions are tested against: it proves those that it saves, and the rejections beside them.
// Rejections alone are told only when the state that they were decided on is seen to be the latest.
func (s *Service[S, C, E]) handle(ctx context.Context, key usecase.Key, calls []*call[C]) {
	conflicts, shortest := 0, s.settings.Timeout
	try, err := s.begin(ctx, key, calls[0])
	for err == nil && len(calls) > 0 {
		var now time.Time
		if now, err = s.now(); err != nil {
			s.settings.Logger.ErrorContext(ctx, "commands are refused: the clock can't be right", "error", err)
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
			// Its answer is known; the others of the batch are decided again without it.
			calls = answerHandled(calls, handled.Receipt)
		case errors.Is(err, ErrConflict):
			conflicts++
			s.settings.Counters.Conflicts.Add(1)
			s.turns.met(key, try.state.Version)
			if conflicts%askEvery == 0 {
				// The others, who are always faster, may not know that there is somebody. If this fails, so does what follows.
				_ = s.repository.AskForTurn(ctx, key)
			}
			shortest = min(shortest, time.Since(try.began))
			if !again(ctx, shortest) {
				s.giveUp(ctx, key, calls, conflicts)
				return
			}
		default:
			continue // ends the loop
		}
		if len(calls) > 0 {
			try, err = s.reload(ctx, key)
		}
	}
	if len(calls) > 0 {
		s.report(ctx, key, err)
	}
	for _, c := range calls {
		c.answer(Result{}, err)
	}
}

// begin loads the state that the batch is decided on first. While other processes write to the aggregate, what is
// remembered is seldom the latest.
func (s *Service[S, C, E]) begin(ctx context.Context, key usecase.Key, first *call[C]) (attempt[S], error) {
	began := time.Now()
	switch {
	case first.request.Begins:
		return attempt[S]{began: began}, nil
	case s.turns.others(key):
		return s.reload(ctx, key)
	}
	state, err := s.repository.Load(ctx, key)
	return attempt[S]{state: state, began: began}, err
}

func (s *Service[S, C, E]) reload(ctx context.Context, key usecase.Key) (attempt[S], error) {
	began := time.Now()
	state, err := s.repository.Reload(ctx, key)
	if err == nil {
		s.turns.reloaded(key, state.Version)
	}
	return attempt[S]{state, true, began}, err
}

// again waits a moment before the next attempt, so that those who met do not meet again. It is false when the time that
// is left is less than an attempt takes at least.
func again(ctx context.Context, takes time.Duration) bool {
	pause(ctx, rand.N(min(takes/2, longestYield)+1))
	deadline, limited := ctx.Deadline()
	return ctx.Err() == nil && (!limited || time.Until(deadline) > takes)
}

func (s *Service[S, C, E]) giveUp(ctx context.Context, key usecase.Key, calls []*call[C], attempts int) {
	s.settings.Counters.GivenUp.Add(int64(len(calls)))
	s.settings.Logger.WarnContext(ctx, "commands are given up: others kept changing the aggregate",
		"tenant", key.Tenant, "aggregate", key.String(), "attempts", attempts, "commands", len(calls))
	for _, c := range calls {
		c.answer(Result{}, usecase.ErrConcurrentUpdate)
	}
}

// save writes what was accepted. Where nothing was, it makes sure that the rejections are true: ErrConflict if not.
func (s *Service[S, C, E]) save(ctx context.Context, key usecase.Key, try attempt[S], after State[S], decided []decision[C, E]) error {
	write := Write[S, E]{Before: try.state.Version, After: after, Heed: !s.turns.others(key)}
	for _, d := range decided {
		if d.err != nil {
			continue
		}
		write.Events = append(write.Events, d.events...)
		if d.call.request.IdempotencyKey != "" {
			write.Receipts = append(write.Receipts, Receipt{
				CommandID:   d.call.commandID,
				Fingerprint: d.call.request.fingerprint(),
				Result:      d.result,
				ExpiresAt:   s.settings.Clock().Add(s.settings.ReceiptLifetime),
			})
		}
	}
	if len(write.Events) > 0 {
		err := s.repository.Save(ctx, key, write)
		if err == nil {
			s.turns.wrote(key, after.Version, time.Since(try.began))
		}
		return err
	}
	if try.fresh && try.state.Version > 0 {
		return nil
	}
	return s.repository.Confirm(ctx, key, try.state.Version)
}

// answer tells the callers what was decided, now that it holds. The repeat of a command that succeeded is often
// rejected - its name is unchanged, its version has passed - so a rejected call with a key is looked up first.
func (s *Service[S, C, E]) answer(ctx context.Context, decided []decision[C, E]) {
	for _, d := range decided {
		if d.err != nil && d.call.request.IdempotencyKey != "" {
			receipt, found, err := s.repository.Receipt(ctx, d.call.request.Caller.Tenant, d.call.commandID)
			if err != nil {
				d.call.answer(Result{}, err)
				continue
			}
			if found {
				d.call.replay(receipt)
				continue
			}
		}
		d.call.answer(d.result, d.err)
	}
}

// answerHandled gives the call that the receipt is about its answer and returns the others.
func answerHandled[C any](calls []*call[C], receipt Receipt) []*call[C] {
	return slices.DeleteFunc(slices.Clone(calls), func(c *call[C]) bool {
		about := c.commandID == receipt.CommandID
		if about {
			c.replay(receipt)
		}
		return about
	})
}

// replay gives the call the first answer again.
func (c *call[C]) replay(receipt Receipt) {
	if !receipt.of(c.request.fingerprint()) {
		c.answer(Result{}, usecase.ErrKeyReused)
		return
	}
	result := receipt.Result
	result.Replayed = true
	c.answer(result, nil)
}
