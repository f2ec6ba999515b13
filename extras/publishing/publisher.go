package publishing

import (
	"cmp"
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

const (
	atOnce       = 16               // aggregates whose events are published concurrently
	answerWithin = 10 * time.Second // for the answer of the broker to one event
	storeEvery   = time.Second      // positions, while events are published
	storeWithin  = 5 * time.Second  // also in a program that stops

	// Backoff during an outage: doubled from the first to the longest, minus up to half at random.
	firstPause   = 100 * time.Millisecond
	longestPause = 5 * time.Second
)

// EndsWithin is how long publishing may go on after its context has ended: what was sent is answered, and stored.
const EndsWithin = answerWithin + storeWithin

// Publisher publishes to a broker. It is the store of a [projection.Projector], with the positions of published events.
type Publisher struct {
	projection.Store // of the positions

	publishOne Publish
	change     sync.Mutex // held during a change, so that two never publish events of one aggregate
	// refusals are answers of the broker, until their aggregates are parked: a repeated change does not ask again.
	refusals map[es.AggregateID]refusal

	mu      sync.Mutex
	failure error     // of the last attempt; nil: it succeeded
	pauses  int       // failed attempts in a row
	resume  time.Time // no attempt before this time

	stopping atomic.Bool // no further event is published

	Published, Refused, Failures atomic.Int64 // events
}

type refusal struct {
	seqNr uint64
	cause error
}

// New returns a publisher that stores its positions in store.
func New(store projection.Store, publish Publish) *Publisher {
	return &Publisher{Store: store, publishOne: publish, refusals: make(map[es.AggregateID]refusal)}
}

// Outage returns why the broker does not accept events now; nil: there is no known outage.
func (p *Publisher) Outage() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.failure
}

// Stop ends publishing: a change under way waits for the answers to what was sent, and stores the positions.
func (p *Publisher) Stop() { p.stopping.Store(true) }

var errStopped = fmt.Errorf("%w: the other events are published after the next start", context.Canceled)

// Change implements [projection.Store]. A change with events ends its transaction, publishes them, and stores the
// positions in another one. If publishing takes long or fails, the positions of the events that were accepted are
// stored before, each second and in the end. If the program dies in between, only the events of the last second are
// published again.
func (p *Publisher) Change(ctx context.Context, change func(context.Context, projection.Tx) error) error {
	p.change.Lock()
	defer p.change.Unlock()
	work := &transaction{publisher: p, found: make(map[es.AggregateID]projection.Position), queues: make(map[es.AggregateID]*queue)}
	err := p.Store.Change(ctx, func(ctx context.Context, tx projection.Tx) error {
		work.Tx = tx
		return change(ctx, work)
	})
	if errors.Is(err, errNotYet) {
		if err = p.publish(ctx, work); err == nil {
			err = work.store(ctx, work.changes)
		}
	}
	if err == nil {
		for key := range work.changes.Positions {
			delete(p.refusals, key)
		}
	}
	return err
}

// publish publishes the events of a change: those of one aggregate one by one, those of several aggregates
// concurrently. After an outage it publishes no more; a refusal stops only its aggregate.
func (p *Publisher) publish(ctx context.Context, work *transaction) error {
	if p.failure != nil && time.Now().Before(p.resume) { // only changes write them
		return outage(p.failure)
	}
	for {
		until := time.Now().Add(storeEvery)
		group, asking := errgroup.WithContext(ctx)
		group.SetLimit(atOnce)
		for key, queue := range work.queues {
			queue.refused = p.refusals[key]
			group.Go(func() error { return p.inOrder(asking, queue, until) })
		}
		err := group.Wait()
		if err == nil {
			_ = p.ended(nil)
		}
		var refused error
		left := false
		for key, queue := range work.queues {
			switch {
			case len(queue.events) == 0:
			case queue.events[0].SeqNr == queue.refused.seqNr:
				p.refusals[key], refused = queue.refused, queue.refused.cause
			default:
				left = true
			}
		}
		if err == nil && !left && refused == nil {
			return nil
		}
		failed := work.storeAccepted(ctx)
		switch {
		case err != nil && ctx.Err() == nil && !errors.Is(err, errStopped):
			return p.ended(err)
		case err != nil || failed != nil || !left:
			return cmp.Or(err, failed, refused)
		}
	}
}

// inOrder publishes an aggregate's events, until the time has come or one is refused. An error is an outage or a stop.
func (p *Publisher) inOrder(ctx context.Context, events *queue, until time.Time) error {
	for len(events.events) > 0 && time.Now().Before(until) {
		event := events.events[0]
		switch {
		case p.stopping.Load():
			return errStopped
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case event.SeqNr == events.refused.seqNr:
			return nil
		}
		err := p.ask(ctx, event)
		switch {
		case errors.Is(err, projection.ErrRefused):
			p.Refused.Add(1)
			events.refused = refusal{event.SeqNr, err}
			return nil
		case err != nil:
			p.Failures.Add(1)
			return err
		}
		p.Published.Add(1)
		events.accepted, events.events = event.SeqNr, events.events[1:]
	}
	return nil
}

// ask publishes an event. It waits for the answer, also when ctx ends: an event that was accepted is not sent again. A
// panic of the broker's client is a refusal, and is told without its value, which may be the event.
func (p *Publisher) ask(ctx context.Context, event Event) (err error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), answerWithin)
	defer cancel()
	defer func() {
		if reason := recover(); reason != nil {
			err = Refused(fmt.Errorf("panic (%T) while publishing\n%s", reason, debug.Stack()))
		}
	}()
	return p.publishOne(ctx, event)
}

// ended stores the outcome of an attempt: after an outage, the time of the next one.
func (p *Publisher) ended(err error) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.failure = err; err == nil {
		p.pauses = 0
		return nil
	}
	pause := es.Backoff(firstPause, longestPause, p.pauses)
	if busy := (*BusyError)(nil); errors.As(err, &busy) {
		pause = max(pause, busy.After)
	}
	p.resume = time.Now().Add(pause)
	p.pauses++
	return outage(err)
}
