package es

import (
	"context"
	"fmt"
	"runtime/debug"
	"slices"
)

// call is a request on its way through the service.
type call[C any] struct {
	ctx         context.Context // the caller's
	request     Request[C]
	commandID   string
	traceparent string // of ctx

	answered chan struct{} // closed when result and err are set
	result   Result
	err      error
}

func (c *call[C]) answer(result Result, err error) {
	c.result, c.err = result, err
	close(c.answered)
}

// receipts returns the number of receipts that the call writes when it is accepted: 0 or 1.
func (c *call[C]) receipts() int { return min(len(c.request.IdempotencyKey), 1) }

// queue holds the calls for one aggregate that wait while earlier ones are handled.
type queue[C any] struct{ waiting []*call[C] }

// enqueue adds the call to its aggregate's queue. The calls that arrive during a write share the next one, so a busy
// aggregate costs one write per batch, not per command.
func (s *Service[S, C, E]) enqueue(key AggregateID, c *call[C]) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	q, busy := s.queues[key]
	if !busy {
		q = &queue[C]{}
		s.queues[key] = q
		s.workers.run(func() { s.work(key, q) })
	}
	q.waiting = append(q.waiting, c)
}

// work handles the queue's calls until none is left.
func (s *Service[S, C, E]) work(key AggregateID, q *queue[C]) {
	for {
		s.turns.yield(key)
		calls := s.next(key, q)
		if len(calls) == 0 {
			return
		}
		// A batch is completed even if the caller whose context it uses disconnects.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(calls[0].ctx), s.settings.Timeout)
		s.handleAll(ctx, key, calls)
		cancel()
	}
}

// handleAll handles a batch. A panic becomes an error for the calls without an answer, so that one command cannot crash
// the program.
func (s *Service[S, C, E]) handleAll(ctx context.Context, key AggregateID, calls []*call[C]) {
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

// next takes a batch from the queue, without calls whose callers have gone and with no command id twice. It deletes the
// queue when there is nothing to do.
func (s *Service[S, C, E]) next(key AggregateID, q *queue[C]) []*call[C] {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	var batch, rest []*call[C]
	for _, c := range q.waiting {
		same := func(taken *call[C]) bool { return taken.commandID == c.commandID }
		switch {
		case c.ctx.Err() != nil:
			c.answer(Result{}, c.ctx.Err())
		case len(batch) == maxBatch || slices.ContainsFunc(batch, same):
			rest = append(rest, c)
		default:
			batch = append(batch, c)
		}
	}
	q.waiting = rest
	if len(batch) == 0 {
		delete(s.queues, key)
	}
	return batch
}
