package publishing

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"example.com/threads/es"
	"example.com/threads/es/projection"
)

// atOnce is the number of aggregates whose events are published concurrently.
const atOnce = 16

const (
	answerWithin = 10 * time.Second // for the answer of the broker to one event
	silentAfter  = 2 * time.Second  // without an answer to any event there is an outage
)

// Backoff during an outage: doubled from the first to the longest, minus up to half at random.
const (
	firstPause   = 100 * time.Millisecond
	longestPause = 5 * time.Second
)

// Publisher publishes events to a broker. It is the store of a [projection.Projector]; its positions are those of the
// published events.
type Publisher struct {
	projection.Store // of the positions

	broker Broker
	turn   chan struct{} // held during a change, so that two never publish events of one aggregate

	mu      sync.Mutex
	known   map[es.AggregateID]brokerAnswer // results for events whose positions are not stored yet
	failure error                           // of the last attempt; nil: it succeeded
	pauses  int                             // failed attempts in a row
	resume  time.Time                       // no attempt before this time
	waiting int                             // events without an answer
	since   time.Time                       // of the last answer or, if that is later, since when waiting > 0

	stopping atomic.Bool // no further event is published

	Published, Refused, Failures atomic.Int64 // events
}

// brokerAnswer is the broker's answers for an aggregate. A repeated change uses them instead of publishing again.
type brokerAnswer struct {
	accepted uint64 // SeqNr of the last event that was accepted
	refused  uint64 // SeqNr of the event that was refused; 0: none
	why      error
}

// New returns a publisher that stores its positions in store.
func New(store projection.Store, broker Broker) *Publisher {
	return &Publisher{Store: store, broker: broker, turn: make(chan struct{}, 1), known: make(map[es.AggregateID]brokerAnswer)}
}

// Outage returns why the broker does not accept events now; nil: there is no known outage.
func (p *Publisher) Outage() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if silent := time.Since(p.since); p.failure == nil && p.waiting > 0 && silent > silentAfter {
		return fmt.Errorf("no answer for %d seconds", int(silent.Seconds()))
	}
	return p.failure
}

// Stop ends publishing: a change under way waits for the answers to what was sent, and stores the positions.
func (p *Publisher) Stop() { p.stopping.Store(true) }

var errStopped = fmt.Errorf("%w: the other events are published after the next start", context.Canceled)

// publish publishes events: those of one aggregate one by one, those of several aggregates concurrently. After an
// outage it publishes no more; a refusal stops only its aggregate.
func (p *Publisher) publish(ctx context.Context, work *transaction, events []Event) error {
	if err := p.paused(); err != nil {
		return err
	}
	keeping, done := context.WithCancel(ctx)
	var keeper sync.WaitGroup
	keeper.Go(func() {
		for es.Wait(keeping, keepEvery) == nil {
			p.keep(ctx, work)
		}
	})
	defer func() { done(); keeper.Wait() }()
	byAggregate := make(map[es.AggregateID][]Event)
	var order []es.AggregateID
	for _, event := range events {
		key := event.Aggregate()
		if byAggregate[key] == nil {
			order = append(order, key)
		}
		byAggregate[key] = append(byAggregate[key], event)
	}
	var refused atomic.Pointer[RefusedError]
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(atOnce)
	for _, key := range order {
		group.Go(func() error {
			err := p.inOrder(groupCtx, byAggregate[key])
			if refusal := (*RefusedError)(nil); errors.As(err, &refusal) {
				refused.Store(refusal)
				return nil
			}
			return err
		})
	}
	if err := group.Wait(); err != nil {
		if ctx.Err() != nil || errors.Is(err, errStopped) {
			return err
		}
		return p.failed(err)
	}
	p.mu.Lock()
	p.failure, p.pauses = nil, 0
	p.mu.Unlock()
	if refusal := refused.Load(); refusal != nil {
		return refusal
	}
	return nil
}

// inOrder publishes the events of one aggregate.
func (p *Publisher) inOrder(ctx context.Context, events []Event) error {
	for _, event := range events {
		switch {
		case p.stopping.Load():
			return errStopped
		case ctx.Err() != nil:
			return context.Cause(ctx)
		}
		key, seqNr := event.Aggregate(), event.SeqNr
		before := p.recall(key)
		if seqNr <= before.accepted {
			continue
		}
		if seqNr == before.refused {
			return before.why
		}
		err := p.ask(ctx, event)
		var refusal *RefusedError
		switch {
		case err == nil:
			p.Published.Add(1)
			before.accepted = seqNr
		case errors.As(err, &refusal):
			p.Refused.Add(1)
			before.refused, before.why = seqNr, refusal
		default:
			p.Failures.Add(1)
			return err
		}
		p.mu.Lock()
		p.known[key] = before
		p.mu.Unlock()
		if refusal != nil {
			return refusal
		}
	}
	return nil
}

// ask publishes an event. It waits for the answer, also when ctx ends: an event that was accepted is not sent again. A
// panic of the broker's client is a refusal, and is told without its value, which may be the event.
func (p *Publisher) ask(ctx context.Context, event Event) (err error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), answerWithin)
	defer cancel()
	p.count(+1)
	defer p.count(-1)
	defer func() {
		if reason := recover(); reason != nil {
			err = &RefusedError{fmt.Errorf("panic (%T) while publishing\n%s", reason, debug.Stack())}
		}
	}()
	err = p.broker.Publish(ctx, event)
	if refusal := (*RefusedError)(nil); errors.Is(err, projection.ErrRefused) && !errors.As(err, &refusal) {
		err = &RefusedError{err}
	}
	return err
}

// count counts the events without an answer.
func (p *Publisher) count(change int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if change < 0 || p.waiting == 0 {
		p.since = time.Now()
	}
	p.waiting += change
}

func (p *Publisher) recall(key es.AggregateID) brokerAnswer {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.known[key]
}

// paused returns the outage until the time of the next attempt.
func (p *Publisher) paused() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.failure != nil && time.Now().Before(p.resume) {
		return &outage{p.failure}
	}
	return nil
}

// failed stores an outage and the time of the next attempt.
func (p *Publisher) failed(err error) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	pause := es.Backoff(firstPause, longestPause, p.pauses)
	if busy := (*BusyError)(nil); errors.As(err, &busy) {
		pause = max(pause, busy.After)
	}
	p.failure, p.resume = err, time.Now().Add(pause)
	p.pauses++
	return &outage{err}
}
