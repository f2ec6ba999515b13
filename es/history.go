package es

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
)

// Latest returns the aggregate's version and its latest state. If the journal has an event that cannot be decoded, the
// state is that before the event.
func (r *Repository[S, E]) Latest(ctx context.Context, key AggregateID) (state State[S], version uint64, err error) {
	state, err = r.Reload(ctx, key)
	var unreadable *unreadableError
	if !errors.As(err, &unreadable) {
		return state, state.Version, err
	}
	head, err := r.gateway.Head(ctx, key)
	if err == nil && unreadable.seqNr > 1 {
		state, err = r.At(ctx, key, unreadable.seqNr-1)
	}
	return state, head.Version, err
}

// unreadableError: an event cannot be decoded, or is not the one of its place.
type unreadableError struct {
	seqNr uint64
	key   AggregateID
	cause error
}

func (e *unreadableError) Error() string {
	return fmt.Sprintf("event %d of %s: %v", e.seqNr, e.key, e.cause)
}

func (e *unreadableError) Unwrap() error { return e.cause }

// At returns the state at an earlier version, from the latest snapshot that is not beyond it. version is one that
// Latest has shown. The state is not cached.
func (r *Repository[S, E]) At(ctx context.Context, key AggregateID, version uint64) (State[S], error) {
	head, err := r.gateway.Head(ctx, key)
	if err != nil {
		return State[S]{}, err
	}
	head.Version = version
	state, err := r.base(ctx, key, State[S]{}, head)
	if err != nil {
		return state, err
	}
	return r.replay(ctx, key, state, version)
}

// Events yields the events with after < SeqNr <= upTo in order, page by page. upTo is a version that Latest has shown.
// It ends after an error.
func (r *Repository[S, E]) Events(ctx context.Context, key AggregateID, after, upTo uint64) iter.Seq2[Recorded[E], error] {
	return r.decoded(key, r.gateway.Entries(ctx, key, after, upTo))
}

// Describe yields the same events in words: an event that cannot be decoded is told with its payload as it is.
func (r *Repository[S, E]) Describe(ctx context.Context, key AggregateID, after, upTo uint64) iter.Seq2[Described, error] {
	return func(yield func(Described, error) bool) {
		for entry, err := range r.gateway.Entries(ctx, key, after, upTo) {
			described := Described{}
			if err == nil {
				described, err = r.describe(key, entry)
			}
			if !yield(described, err) || err != nil {
				return
			}
		}
	}
}

func (r *Repository[S, E]) describe(key AggregateID, entry Entry) (described Described, err error) {
	recorded, err := r.decode(key, entry)
	if err == nil {
		described.Envelope = recorded.Envelope
		described.Type, described.Data, err = r.codec.Describe(recorded.Event)
		return described, err
	}
	described.Envelope = Envelope{
		EventID: entry.EventID, AggregateType: key.Type, AggregateID: key.ID, SeqNr: entry.SeqNr, OccurredAt: entry.OccurredAt,
		Caller: Caller{Tenant: key.Tenant},
	}
	var found struct {
		Type string `json:"type"`
	}
	if described.Data = entry.Payload; json.Unmarshal(entry.Payload, &found) != nil {
		described.Data, err = json.Marshal(string(entry.Payload))
		return described, err
	}
	described.Type = found.Type
	return described, nil
}

// EventsAt yields the events with these numbers, which ascend and which Latest has shown. It ends after an error. A
// gateway that is no [Lookup] takes a call for each of them.
func (r *Repository[S, E]) EventsAt(ctx context.Context, key AggregateID, seqNrs []uint64) iter.Seq2[Recorded[E], error] {
	if lookup, able := r.gateway.(Lookup); able {
		return r.decoded(key, lookup.EntriesAt(ctx, key, seqNrs))
	}
	return func(yield func(Recorded[E], error) bool) {
		for _, seqNr := range seqNrs {
			for recorded, err := range r.Events(ctx, key, seqNr-1, seqNr) {
				if !yield(recorded, err) || err != nil {
					return
				}
			}
		}
	}
}

// decoded fails at a payload that is not the event of its place.
func (r *Repository[S, E]) decoded(key AggregateID, entries iter.Seq2[Entry, error]) iter.Seq2[Recorded[E], error] {
	return func(yield func(Recorded[E], error) bool) {
		for entry, err := range entries {
			if err != nil {
				yield(Recorded[E]{}, err)
				return
			}
			recorded, err := r.decode(key, entry)
			if !yield(recorded, err) || err != nil {
				return
			}
		}
	}
}

func (r *Repository[S, E]) decode(key AggregateID, entry Entry) (Recorded[E], error) {
	recorded, err := r.codec.Decode(entry.Payload)
	if err == nil && (recorded.Aggregate() != key || recorded.SeqNr != entry.SeqNr) {
		err = fmt.Errorf("the payload is event %d of %s of tenant %q", recorded.SeqNr, recorded.Aggregate(), recorded.Tenant)
	}
	if err != nil {
		return recorded, &unreadableError{entry.SeqNr, key, err}
	}
	return recorded, nil
}
