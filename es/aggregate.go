// Package es decides commands on event-sourced aggregates and keeps their events. It has the whole library's words: who
// asks ([Caller]), what is recorded about an event ([Envelope], [Recorded]), which aggregate it belongs to
// ([AggregateID]), and the one classification of errors ([KindOf]).
//
// A [Service] handles the commands of an aggregate type: it loads an aggregate through its [Repository], from a
// snapshot and the events after it, has the [Aggregate] decide, and appends the events to an event store, the
// [EventPersistenceGateway]: package dynamodb or sqlstore. From there the events come back through a source of changes
// (dynamodbstreams, sqlstore) to the package projection, whose positions are in rowstore. estest tests aggregates and
// event stores. The examples show a feature each; the program examples/counter is a whole system in one file.
package es

import (
	"context"
	"errors"
	"fmt"
	"reflect"

	"github.com/segmentio/encoding/json"
)

// Aggregate is an aggregate type, which services, projections, tools and tests take: S is its state, C its commands, E
// its events. The zero S is the state before the first event. All functions are pure and may be called concurrently.
type Aggregate[S, C, E any] struct {
	// Decide returns the events that follow from the command, at least one, or an error that rejects it (see [KindOf]).
	Decide func(S, C) ([]E, error)
	// Apply returns the state after the event. It never fails.
	Apply func(S, E) S
	// Events encodes the events, and has the name of the type.
	Events *Codec[E]
	// Snapshots encodes the states. Default: their own JSON, for states whose fields are all exported. A field that was
	// added later is zero in older snapshots: then use [JSONSnapshots], and tell the form by a number in the JSON.
	Snapshots SnapshotCodec[S]
	// Answer returns further data for the caller from a command's events, such as new ids. Default: none.
	Answer func([]E) map[string]string
	// Usable returns why [Service.Snapshot] refuses a state: it does not exist yet, or has ended. Automatic snapshots
	// never ask it. Default: every state can have one.
	Usable func(S) error
}

// Type returns the name of the aggregate type in keys and in the store, such as "order".
func (a Aggregate[S, C, E]) Type() string { return a.Events.Type() }

func (a Aggregate[S, C, E]) withDefaults() Aggregate[S, C, E] {
	if a.Snapshots.Encode == nil {
		a.Snapshots = plainSnapshots[S]()
	}
	if a.Answer == nil {
		a.Answer = func([]E) map[string]string { return nil }
	}
	if a.Usable == nil {
		a.Usable = func(S) error { return nil }
	}
	return a
}

// State is an aggregate's state and its version, the SeqNr of its last event. The zero State: it does not exist.
type State[S any] struct {
	Version uint64
	Value   S
}

// SnapshotCodec encodes states for snapshots; see [JSONSnapshots]. Its functions may be called concurrently.
type SnapshotCodec[S any] struct {
	// Encode encodes the state of the aggregate with the id.
	Encode func(id string, version uint64, state S) ([]byte, error)
	// Decode is the inverse of Encode. It fails if it cannot read all of the payload: a newer program, running beside
	// this one, may have written more, without which a decision would be wrong. For an older form, and a field that it
	// does not know, it fails with [ErrOutdated]. The events are used instead.
	Decode func(payload []byte) (id string, version uint64, state S, err error)
	// Size estimates the bytes that a state takes in memory.
	Size func(state S) int
}

// JSONSnapshots returns the codec of states that are written as the JSON of a W: to and from convert them, and size is
// that of [SnapshotCodec]. from fails with [ErrOutdated] for an older form.
func JSONSnapshots[S, W any](
	size func(S) int, to func(id string, version uint64, state S) (W, error), from func(W) (id string, version uint64, state S, err error),
) SnapshotCodec[S] {
	encode := func(id string, version uint64, state S) ([]byte, error) {
		w, err := to(id, version, state)
		if err != nil {
			return nil, err
		}
		return json.Append(make([]byte, 0, size(state)), w, json.SortMapKeys)
	}
	decode := func(payload []byte) (id string, version uint64, state S, err error) {
		var w, none W
		rest, unknown := json.Parse(payload, &w, json.DisallowUnknownFields)
		if unknown != nil || len(rest) > 0 {
			w = none
			err = json.Unmarshal(payload, &w)
		}
		if err == nil {
			id, version, state, err = from(w)
		}
		switch {
		case err == nil && unknown != nil:
			return "", 0, *new(S), fmt.Errorf("%w: %v", ErrOutdated, unknown) //nolint:errorlint // not an error of the caller
		case err == nil || errors.Is(err, ErrOutdated):
			return id, version, state, err
		}
		return "", 0, state, fmt.Errorf("the snapshot can't be read: %v", err) //nolint:errorlint // not an error of the caller
	}
	return SnapshotCodec[S]{encode, decode, size}
}

// plainSnapshots returns the codec of states that are written as their own JSON. It is for small states.
func plainSnapshots[S any]() SnapshotCodec[S] {
	type plain struct {
		ID      string `json:"id"`
		Version uint64 `json:"version"`
		State   *S     `json:"state"`
	}
	codec := JSONSnapshots(
		func(state S) int {
			text, _ := json.Marshal(state) // a state without JSON fails in Encode
			return len(text)
		},
		func(id string, version uint64, state S) (plain, error) { return plain{id, version, &state}, nil },
		func(w plain) (id string, version uint64, state S, err error) {
			switch {
			case w.State == nil: // it has the form of a codec that the type had before
				return "", 0, state, ErrOutdated
			case w.ID == "" || w.Version == 0:
				return "", 0, state, errors.New("id or version is missing")
			}
			return w.ID, w.Version, *w.State, nil
		})
	if field := hidden(reflect.TypeFor[S]()); field != "" {
		codec.Encode = func(string, uint64, S) ([]byte, error) {
			return nil, fmt.Errorf("the field %s of %T is not exported, so JSON lacks it: export it, or set the Snapshots of the aggregate type", field, *new(S))
		}
	}
	return codec
}

// hidden returns a field that the JSON of a struct lacks because it is not exported; none of a type with its own JSON.
func hidden(t reflect.Type) string {
	if _, own := reflect.New(t).Interface().(json.Marshaler); own || t.Kind() != reflect.Struct {
		return ""
	}
	for field := range t.Fields() {
		if !field.IsExported() && !field.Anonymous {
			return field.Name
		}
	}
	return ""
}

// AnyAggregate is an [Aggregate] with any state, commands and events. A program lists those that it knows.
type AnyAggregate interface {
	Type() string
	EventNames() []string // of all events that can be decoded, sorted
	// DecodeEvent decodes the payload of an event. With an error it returns the event's id if that could be read.
	DecodeEvent(payload []byte) (Recorded[any], error)
	// EncodeEvent is the inverse of DecodeEvent. It also returns the event's name.
	EncodeEvent(recorded Recorded[any]) (name string, payload []byte, err error)
	// DecodeSnapshot returns the id and the version of the aggregate in the payload of a snapshot.
	DecodeSnapshot(payload []byte) (id string, version uint64, err error)
	// TakeSnapshot writes a snapshot of the aggregate's latest state, and nothing else.
	TakeSnapshot(ctx context.Context, store EventPersistenceGateway, id AggregateID, settings Settings) error
}

// EventNames implements [AnyAggregate].
func (a Aggregate[S, C, E]) EventNames() []string { return a.Events.Names() }

// DecodeEvent implements [AnyAggregate].
func (a Aggregate[S, C, E]) DecodeEvent(payload []byte) (Recorded[any], error) {
	return a.Events.DecodeEvent(payload)
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

// StateCodec returns what encodes the states: Snapshots, or its default.
func (a Aggregate[S, C, E]) StateCodec() SnapshotCodec[S] { return a.withDefaults().Snapshots }

// DecodeSnapshot implements [AnyAggregate].
func (a Aggregate[S, C, E]) DecodeSnapshot(payload []byte) (id string, version uint64, err error) {
	id, version, _, err = a.StateCodec().Decode(payload)
	return id, version, err
}

// TakeSnapshot implements [AnyAggregate].
func (a Aggregate[S, C, E]) TakeSnapshot(ctx context.Context, store EventPersistenceGateway, id AggregateID, settings Settings) error {
	repository := NewRepository(a, store, settings)
	state, err := repository.Reload(ctx, id)
	if err == nil {
		err = repository.SaveSnapshot(ctx, id, state)
	}
	return err
}
