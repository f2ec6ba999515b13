package es

import (
	"context"
	"fmt"
)

// Aggregate is an aggregate type: S is its state, C its commands, E its events. It is the one value that a program's
// services, projections, tools and tests take. The zero S is the state before the first event. All functions are pure
// and may be called concurrently.
type Aggregate[S, C, E any] struct {
	// Decide returns the events that follow from the command, at least one, or an error that rejects it. Such an error
	// reports its class: see [KindOf].
	Decide func(S, C) ([]E, error)
	// Apply returns the state after the event. It never fails.
	Apply func(S, E) S
	// Events encodes the events, and has the name of the type.
	Events *Codec[E]
	// Snapshots encodes the states. Default: [PlainSnapshots].
	Snapshots SnapshotCodec[S]
	// Answer returns the data for the caller from a command's events, such as new ids. The aggregate's key and version
	// are returned in any case. Default: no data.
	Answer func([]E) map[string]string
	// Usable returns why a state cannot have a snapshot (the aggregate does not exist yet, or has ended), with the same
	// errors as Decide; nil means that it can. Default: every state can.
	Usable func(S) error
}

// Type returns the name of the aggregate type in keys and in the store, such as "order".
func (a Aggregate[S, C, E]) Type() string { return a.Events.Type() }

func (a Aggregate[S, C, E]) withDefaults() Aggregate[S, C, E] {
	if a.Snapshots == nil {
		a.Snapshots = PlainSnapshots[S]{}
	}
	if a.Answer == nil {
		a.Answer = func([]E) map[string]string { return nil }
	}
	if a.Usable == nil {
		a.Usable = func(S) error { return nil }
	}
	return a
}

// State is an aggregate's state and its version, which is the SeqNr of its last event. The zero State is that of an
// aggregate that does not exist.
type State[S any] struct {
	Version uint64
	Value   S
}

// AnyAggregate is an [Aggregate] with any state, commands and events. A program lists those that it knows.
type AnyAggregate interface {
	Type() string
	// DecodeEvent decodes the payload of an event. With an error it returns the event's id if that could be read.
	DecodeEvent(payload []byte) (Recorded[any], error)
	// EncodeEvent is the inverse of DecodeEvent. It also returns the event's name.
	EncodeEvent(recorded Recorded[any]) (name string, payload []byte, err error)
	// DecodeSnapshot returns the id and the version of the aggregate in the payload of a snapshot.
	DecodeSnapshot(payload []byte) (id string, version uint64, err error)
	// TakeSnapshot writes a snapshot of the aggregate's latest state, and nothing else.
	TakeSnapshot(ctx context.Context, store EventPersistenceGateway, id AggregateID, settings Settings) error
}

// DecodeEvent implements [AnyAggregate].
func (a Aggregate[S, C, E]) DecodeEvent(payload []byte) (Recorded[any], error) {
	recorded, err := a.Events.Decode(payload)
	return Recorded[any]{Envelope: recorded.Envelope, Event: recorded.Event}, err
}

// EncodeEvent implements [AnyAggregate].
func (a Aggregate[S, C, E]) EncodeEvent(recorded Recorded[any]) (name string, payload []byte, err error) {
	event, is := recorded.Event.(E)
	if !is {
		return "", nil, fmt.Errorf("%T is not an event of %s", recorded.Event, a.Type())
	}
	payload, err = a.Events.Encode(Recorded[E]{Envelope: recorded.Envelope, Event: event})
	return a.Events.EventType(event), payload, err
}

// DecodeSnapshot implements [AnyAggregate].
func (a Aggregate[S, C, E]) DecodeSnapshot(payload []byte) (id string, version uint64, err error) {
	id, version, _, err = a.withDefaults().Snapshots.Decode(payload)
	return id, version, err
}

// TakeSnapshot implements [AnyAggregate].
func (a Aggregate[S, C, E]) TakeSnapshot(ctx context.Context, store EventPersistenceGateway, id AggregateID, settings Settings) error {
	repository := NewRepository(a, store, settings)
	state, err := repository.Reload(ctx, id)
	if err != nil {
		return err
	}
	return repository.SaveSnapshot(ctx, id, state)
}
