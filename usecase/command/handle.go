package command

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"time"

	"example.com/threads/domain/thread"
	"example.com/threads/usecase"
)

// handle is load -> decide -> save for the calls of a batch, until each has its answer. The write's condition on the
// version is what decisions are tested against: it proves those that it saves, and the rejections beside them.
// Rejections alone are told only when the state that they were decided on is seen to be the latest.
func (s *Service) handle(ctx context.Context, key usecase.Key, calls []*call) {
	state, err := s.load(ctx, key, calls)
	for attempt := 1; err == nil; attempt++ {
		decided := s.decide(key, state, calls)
		err = s.save(ctx, key, state, decided)
		var handled *HandledError
		switch {
		case err == nil:
			s.answer(ctx, decided)
			return
		case errors.As(err, &handled):
			// Its answer is known; the others of the batch are decided again without it, which costs them no attempt.
			if calls = answerHandled(calls, handled.Receipt); len(calls) == 0 {
				return
			}
			attempt--
		case !errors.Is(err, ErrConflict):
			continue // ends the loop
		case attempt == s.settings.Attempts:
			err = usecase.ErrConcurrentUpdate
			continue
		default:
			pause(ctx, attempt)
		}
		state, err = s.repository.Reload(ctx, key)
	}
	for _, c := range calls {
		c.answer(Result{}, err)
	}
}

func (s *Service) load(ctx context.Context, key usecase.Key, calls []*call) (thread.Thread, error) {
	if _, begins := calls[0].command.(thread.Create); begins {
		return thread.Thread{}, nil // its id has just been made, so there is nothing to load
	}
	return s.repository.Load(ctx, key)
}

// save writes what was accepted. Where nothing was, it makes sure that the rejections are true: ErrConflict if not.
func (s *Service) save(ctx context.Context, key usecase.Key, state thread.Thread, decided []decision) error {
	var events []usecase.Recorded[thread.Event]
	var receipts []Receipt
	for _, d := range decided {
		if d.err != nil {
			continue
		}
		events = append(events, d.events...)
		if d.call.request.IdempotencyKey != "" {
			receipts = append(receipts, Receipt{
				CommandID:   d.call.commandID,
				Fingerprint: d.call.request.fingerprint(),
				Result:      d.result,
				ExpiresAt:   s.settings.Clock().Add(s.settings.ReceiptLifetime),
			})
		}
	}
	if len(events) > 0 {
		return s.repository.Save(ctx, key, state, events, receipts)
	}
	latest, err := s.repository.IsLatest(ctx, key, state)
	if err == nil && !latest {
		return ErrConflict
	}
	return err
}

// answer tells the callers what was decided, now that it holds. The repeat of a command that succeeded is often
// rejected - its name is unchanged, its version has passed - so a rejected call with a key is looked up first.
func (s *Service) answer(ctx context.Context, decided []decision) {
	for _, d := range decided {
		if d.err != nil && d.call.request.IdempotencyKey != "" {
			receipt, found, err := s.repository.Receipt(ctx, d.call.request.Caller.Tenant, d.call.commandID)
			if err != nil {
				d.call.answer(Result{}, err)
				continue
			}
			if found {
				d.call.answer(receipt.replay(d.call))
				continue
			}
		}
		d.call.answer(d.result, d.err)
	}
}

// answerHandled gives the call that the receipt is about its answer and returns the others.
func answerHandled(calls []*call, receipt Receipt) []*call {
	return slices.DeleteFunc(slices.Clone(calls), func(c *call) bool {
		about := c.commandID == receipt.CommandID
		if about {
			c.answer(receipt.replay(c))
		}
		return about
	})
}

func (r Receipt) replay(c *call) (Result, error) {
	if r.Fingerprint != c.request.fingerprint() {
		return Result{}, usecase.ErrKeyReused
	}
	result := r.Result
	result.Replayed = true
	return result, nil
}

// pause lets the others finish: about 10 ms, twice as long after each attempt up to 160 ms, with full jitter.
func pause(ctx context.Context, attempt int) {
	longest := 10 * time.Millisecond << min(attempt-1, 4)
	timer := time.NewTimer(rand.N(longest))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
