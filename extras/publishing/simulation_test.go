package publishing_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"example.com/threads/es"
	"example.com/threads/es/estest/simulation"
	"example.com/threads/es/projection"
	"example.com/threads/extras/publishing"
)

// The faults of the broker, besides those of every I/O. Each is of one event, the next one that is sent, unless it says
// more.
const (
	down       = "down"       // it takes none of some events
	busy       = "busy"       // it asks for a pause
	refused    = "refused"    // it refuses the event until its aggregate is parked
	panics     = "panic"      // its client panics
	slow       = "slow"       // it answers after some seconds
	silent     = "silent"     // it neither takes the event nor answers
	unanswered = "unanswered" // it takes the event and does not answer
	strayed    = "strayed"    // it takes the event when the publisher has given up
	downFor    = 8            // events
	slowFor    = 5 * time.Second
)

// simulated is a broker in the simulation, and what must be true of it.
type simulated struct {
	fault    string // of the next event
	down     int    // events that it will not take
	strays   []publishing.Event
	refuses  map[string]bool   // the events that it refuses now, by name
	refused  map[string]bool   // those that it ever refused
	ids      map[string]string // of the accepted events
	accepted map[es.AggregateID]uint64
	stored   map[es.AggregateID]uint64 // as published
}

func newSimulated() simulation.Consumer {
	return &simulated{
		refuses: map[string]bool{}, refused: map[string]bool{}, ids: map[string]string{},
		accepted: map[es.AggregateID]uint64{}, stored: map[es.AggregateID]uint64{},
	}
}

func nameOf(key es.AggregateID, seqNr uint64) string {
	return fmt.Sprintf("%s#%d", key.ID[len(key.ID)-1:], seqNr)
}

func (b *simulated) Name() string { return "publisher" }

func (b *simulated) Faults() []string {
	return []string{down, busy, refused, panics, slow, silent, unanswered, strayed}
}

func (b *simulated) Meet(fault string) {
	if fault == down {
		b.down = downFor
	} else {
		b.fault = fault
	}
}

func (b *simulated) Open(p *simulation.Process, events es.AnyAggregate, positions projection.Store) (projection.Store, projection.Handler) {
	l := &life{broker: b, p: p, heard: map[es.AggregateID]uint64{}}
	l.Publisher = publishing.New(uncertainOf{positions, l}, l.publish)
	return l, publishing.Handler{AnyAggregate: events}
}

// Check implements [simulation.Consumer]: what is stored as published was accepted, and stays published, and an
// aggregate is parked for its own event.
func (b *simulated) Check(positions map[es.AggregateID]uint64, parked []projection.DeadLetter) error {
	for key, version := range positions {
		switch {
		case version > b.accepted[key]:
			return fmt.Errorf("%s is stored as published, but the broker has accepted %s", nameOf(key, version), nameOf(key, b.accepted[key]))
		case version < b.stored[key]:
			return fmt.Errorf("the position went back from %s to %s", nameOf(key, b.stored[key]), nameOf(key, version))
		}
		b.stored[key] = version
	}
	for _, letter := range parked {
		name := nameOf(letter.Key, letter.SeqNr)
		if strings.HasPrefix(letter.Reason, "the broker refuses") && !b.refused[name] {
			return fmt.Errorf("%s is parked, but the broker did not refuse it", name)
		}
		delete(b.refuses, name)
	}
	return nil
}

// take is the broker's side of an event that is sent. It returns what will happen to the answer, and the answer.
func (b *simulated) take(event publishing.Event) (fault string, answer, broken error) {
	for _, stray := range b.strays {
		broken = errors.Join(broken, b.accept(stray))
	}
	b.strays = nil
	name := nameOf(event.Aggregate(), event.SeqNr)
	if b.down > 0 {
		b.down--
		return "", errors.New("nobody listens"), broken
	}
	fault, b.fault = b.fault, ""
	if fault == refused {
		b.refuses[name] = true
	}
	switch {
	case b.refuses[name]:
		b.refused[name] = true
		return "", publishing.Refused(errors.New("too spicy")), broken
	case fault == panics:
		b.refused[name] = true
		return fault, nil, broken
	case fault == busy:
		return "", &publishing.BusyError{Cause: errors.New("come back later"), After: 20 * time.Second}, broken
	case fault == strayed:
		b.strays = append(b.strays, event)
		return silent, nil, broken
	case fault == silent:
		return fault, nil, broken
	}
	return fault, nil, errors.Join(broken, b.accept(event))
}

// accept accepts an event, which must be the one that the journal has, and not come before its predecessor.
func (b *simulated) accept(event publishing.Event) error {
	key, name := event.Aggregate(), nameOf(event.Aggregate(), event.SeqNr)
	var data struct{ Events uint64 }
	if err := json.Unmarshal(event.Data, &data); err != nil || data.Events != event.SeqNr || b.ids[name] != "" && b.ids[name] != event.EventID {
		return fmt.Errorf("%s is published as another event: %s, %s", name, event.EventID, event.Data)
	}
	if event.SeqNr > b.accepted[key]+1 {
		return fmt.Errorf("%s is published, but the broker has accepted only %s", name, nameOf(key, b.accepted[key]))
	}
	b.ids[name], b.accepted[key] = event.EventID, max(b.accepted[key], event.SeqNr)
	return nil
}

// life is the publisher of one life of a process.
type life struct {
	*publishing.Publisher
	broker   *simulated
	p        *simulation.Process
	changing bool
	heard    map[es.AggregateID]uint64 // the last event that is known to be accepted and need not be sent again
}

// Change implements [projection.Store]. It begins when the one before has ended: the world does not see who waits for a
// lock.
func (l *life) Change(ctx context.Context, change func(context.Context, projection.Tx) error) error {
	return l.p.Do(ctx, simulation.Party{Name: "rows", Failed: projection.ErrTransient}, "publishes", func() bool { return !l.changing }, func() error {
		l.changing = true
		defer func() { l.changing = false }()
		return l.Publisher.Change(ctx, change)
	})
}

// uncertainOf are the positions of a life. When a change of them fails, events may be published again.
type uncertainOf struct {
	projection.Store
	l *life
}

func (u uncertainOf) Change(ctx context.Context, change func(context.Context, projection.Tx) error) error {
	err := u.Store.Change(ctx, change)
	if err != nil {
		clear(u.l.heard)
	}
	return err
}

func (l *life) publish(ctx context.Context, event publishing.Event) error {
	err := l.send(ctx, event)
	switch pause := (*publishing.BusyError)(nil); {
	case err == nil:
		l.heard[event.Aggregate()] = event.SeqNr
	case !errors.As(err, &pause) && !errors.Is(err, projection.ErrRefused) && l.Outage() != nil:
		// The random part of the publisher's later pauses is longer than a tick: here they have a fixed length.
		err = &publishing.BusyError{Cause: err, After: 6 * time.Second}
	}
	return err
}

// send sends an event and hears the answer, in two I/Os: between them, much can happen.
func (l *life) send(ctx context.Context, event publishing.Event) error {
	name, broker := nameOf(event.Aggregate(), event.SeqNr), simulation.Party{Name: "broker", Failed: errors.New("the connection broke")}
	var fault string
	var answer error
	err := l.p.Do(ctx, broker, "sends "+name, nil, func() (broken error) {
		if event.SeqNr <= l.heard[event.Aggregate()] {
			l.p.Fail("%s is sent again, although the publisher knows that the broker has accepted it", name)
		}
		if fault, answer, broken = l.broker.take(event); broken != nil {
			l.p.Fail("%v", broken)
		}
		return nil
	})
	if err != nil {
		return err
	}
	began := time.Now()
	answered := func() bool {
		late := fault == silent || fault == unanswered || fault == slow && time.Since(began) < slowFor
		return !late || ctx.Err() != nil
	}
	err = l.p.Do(context.WithoutCancel(ctx), broker, "hears of "+name, answered, func() error {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return answer
	})
	if fault == panics && err == nil {
		panic("Rhubarb")
	}
	return err
}

// Under all faults of the simulation and of the broker, each event is published, in order for its aggregate.
func TestSchedules(t *testing.T) { simulation.Schedules(t, "extras/publishing", 100, newSimulated) }

func TestASeedTellsOneStory(t *testing.T) { simulation.OneStory(t, newSimulated) }

func TestMutationsAreFound(t *testing.T) { simulation.MutationsAreFound(t, "../..") }
