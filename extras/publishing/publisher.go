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
	refusal  error
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

// Handler returns the handler of an aggregate type.
func (p *Publisher) Handler(of es.AnyAggregate) projection.Handler { return handler{of, p} }

type handler struct {
	es.AnyAggregate
	publisher *Publisher
}

// Decode implements [projection.Handler].
func (h handler) Decode(payload []byte) (projection.Event, error) {
	event, err := Describe(h.AnyAggregate, payload)
	return projection.Event{Envelope: event.Envelope, Event: event}, err
}

// Load implements [projection.Handler]. An event needs no rows.
func (h handler) Load(_ context.Context, tx projection.Tx, _ []projection.Event) (projection.Fold, error) {
	return &fold{work: tx.(*transaction)}, nil // Change created it
}

// fold collects the events of a change.
type fold struct {
	work   *transaction
	events []Event
}

// Apply implements [projection.Fold].
func (f *fold) Apply(event projection.Event) error {
	f.events = append(f.events, event.Event.(Event)) // Decode created it
	return nil
}

// Save implements [projection.Fold].
func (f *fold) Save(ctx context.Context) error {
	return f.work.publisher.publish(ctx, f.work, f.events)
}

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
	refusals := make(chan error, len(order))
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(atOnce)
	for _, key := range order {
		group.Go(func() error {
			refusal, err := p.inOrder(groupCtx, key, byAggregate[key])
			if refusal != nil {
				refusals <- refusal
			}
			return err
		})
	}
	switch err := group.Wait(); {
	case err != nil && (ctx.Err() != nil || errors.Is(err, errStopped)):
		return err
	case err != nil:
		return p.failed(err)
	}
	p.mu.Lock()
	p.failure, p.pauses = nil, 0
	p.mu.Unlock()
	select {
	case refusal := <-refusals:
		return refusal
	default:
		return nil
	}
}

// inOrder publishes the events of one aggregate, until one is refused. An error is an outage or a stop.
func (p *Publisher) inOrder(ctx context.Context, key es.AggregateID, events []Event) (refusal, err error) {
	for _, event := range events {
		switch {
		case p.stopping.Load():
			return nil, errStopped
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		}
		p.mu.Lock()
		answer := p.known[key]
		p.mu.Unlock()
		if event.SeqNr <= answer.accepted {
			continue
		}
		if answer.refusal != nil && event.SeqNr == answer.refused {
			return answer.refusal, nil
		}
		switch err := p.ask(ctx, event); {
		case err == nil:
			p.Published.Add(1)
			answer.accepted = event.SeqNr
		case errors.Is(err, projection.ErrRefused):
			p.Refused.Add(1)
			refusal, answer.refused, answer.refusal = err, event.SeqNr, err
		default:
			p.Failures.Add(1)
			return nil, err
		}
		p.mu.Lock()
		p.known[key] = answer
		p.mu.Unlock()
		if refusal != nil {
			return refusal, nil
		}
	}
	return nil, nil
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
	return p.broker.Publish(ctx, event)
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
