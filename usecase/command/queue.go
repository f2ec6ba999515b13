package command

import (
	"context"
	"fmt"
	"runtime/debug"

	"example.com/threads/usecase"
)

// call is a request on its way through the service.
type call[C any] struct {
	ctx       context.Context // the caller's
	request   Request[C]
	commandID string

	answered chan struct{} // closed when result and err are set
	result   Result
	err      error
}

func (c *call[C]) answer(result Result, err error) {
	c.result, c.err = result, err
	close(c.answered)
}

// receipts is how many receipts the call leaves when it is accepted.
func (c *call[C]) receipts() int { return min(len(c.request.IdempotencyKey), 1) }

// queue holds the calls for one aggregate that wait while earlier ones are handled.
type queue[C any] struct{ waiting []*call[C] }

// enqueue has the call handled after those for the same aggregate that are there already. The calls that gather while
// one write is under way share the next one, so that a busy aggregate costs a write per batch and not per command.
func (s *Service[S, C, E]) enqueue(key usecase.Key, c *call[C]) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	q, busy := s.queues[key]
	if !busy {
		q = &queue[C]{}
		s.queues[key] = q
		s.running.Go(func() { s.work(key, q) })
	}
	q.waiting = append(q.waiting, c)
}

// work handles the queue's calls until none is left, and then lets go of the queue.
func (s *Service[S, C, E]) work(key usecase.Key, q *queue[C]) {
	for {
		s.turns.yield(key)
		calls := s.next(key, q)
		if len(calls) == 0 {
			return
		}
		// A batch is handled to its end even when the caller that its context comes from goes away.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(calls[0].ctx), s.settings.Timeout)
		s.handleAll(ctx, key, calls)
		cancel()
	}
}

// handleAll handles a batch. A panic is an error, for those of its calls that have no answer yet: it must not take the
// program, and with it everybody's commands, along.
func (s *Service[S, C, E]) handleAll(ctx context.Context, key usecase.Key, calls []*call[C]) {
	defer func() {
		reason := recover()
		if reason == nil {
			return
		}
		err := fmt.Errorf("panic while handling a command: %v\n%s", reason, debug.Stack())
		for _, c := range calls {
			select {
			case <-c.answered:
			default:
				c.answer(Result{}, err)
			}
		}
	}()
	s.handle(ctx, key, calls)
}

// next takes a batch from the queue: calls whose callers are still there, no two with the same command id.
func (s *Service[S, C, E]) next(key usecase.Key, q *queue[C]) []*call[C] {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	var batch, rest []*call[C]
	taken := map[string]bool{}
	for _, c := range q.waiting {
		switch {
		case c.ctx.Err() != nil:
			c.answer(Result{}, c.ctx.Err())
		case taken[c.commandID] || len(batch) == maxBatch:
			rest = append(rest, c)
		default:
			taken[c.commandID] = true
			batch = append(batch, c)
		}
	}
	q.waiting = rest
	if len(batch) == 0 {
		delete(s.queues, key)
	}
	return batch
}
