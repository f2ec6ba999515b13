package command

import (
	"context"
	"fmt"
	"runtime/debug"

	"example.com/threads/domain/thread"
	"example.com/threads/usecase"
)

// call is a request on its way through the service.
type call struct {
	ctx       context.Context // the caller's
	request   Request
	command   thread.Command // complete, with the ids of what it brings into being
	commandID string

	answered chan struct{} // closed when result and err are set
	result   Result
	err      error
}

func (c *call) answer(result Result, err error) {
	c.result, c.err = result, err
	close(c.answered)
}

// queue holds the calls for one thread that wait while earlier ones are handled.
type queue struct{ waiting []*call }

// enqueue has the call handled after those for the same thread that are there already. The calls that gather while
// one write is under way share the next one, so that a busy thread costs a write per batch and not per command.
func (s *Service) enqueue(key usecase.Key, c *call) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	q, busy := s.queues[key]
	if !busy {
		q = &queue{}
		s.queues[key] = q
		s.running.Go(func() { s.work(key, q) })
	}
	q.waiting = append(q.waiting, c)
}

// work handles the queue's calls until none is left, and then lets go of the queue.
func (s *Service) work(key usecase.Key, q *queue) {
	for {
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
func (s *Service) handleAll(ctx context.Context, key usecase.Key, calls []*call) {
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
func (s *Service) next(key usecase.Key, q *queue) []*call {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	var batch, rest []*call
	taken := map[string]bool{}
	for _, c := range q.waiting {
		switch {
		case c.ctx.Err() != nil:
			c.answer(Result{}, c.ctx.Err())
		case taken[c.commandID] || len(batch) == MaxBatch:
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
