package repository

import (
	"context"
	"fmt"
	"iter"

	"example.com/threads/interfaceadaptor/eventstore"
	"example.com/threads/usecase"
	"example.com/threads/usecase/command"
)

// At returns the state at an earlier version, from the latest snapshot that is not beyond it. version is one that a
// Reload has shown. The state is not cached.
func (r *Repository[S, E]) At(ctx context.Context, key usecase.Key, version uint64) (command.State[S], error) {
	head, err := r.gateway.Head(ctx, aggregateOf(key))
	if err != nil {
		return command.State[S]{}, err
	}
	head.Version = version
	state, err := r.base(ctx, key, command.State[S]{}, head)
	if err != nil {
		return state, err
	}
	return r.replay(ctx, key, state, version)
}

// Events yields the events with after < SeqNr <= upTo in order, page by page. upTo is a version that a Reload has shown.
// It ends after an error.
func (r *Repository[S, E]) Events(ctx context.Context, key usecase.Key, after, upTo uint64) iter.Seq2[usecase.Recorded[E], error] {
	return r.decoded(key, r.gateway.Entries(ctx, aggregateOf(key), after, upTo))
}

// EventsAt yields the events with these numbers, which ascend and which a Reload has shown. It ends after an error.
func (r *Repository[S, E]) EventsAt(ctx context.Context, key usecase.Key, seqNrs []uint64) iter.Seq2[usecase.Recorded[E], error] {
	return r.decoded(key, r.gateway.EntriesAt(ctx, aggregateOf(key), seqNrs))
}

// decoded fails at a payload that is not the event of its place.
func (r *Repository[S, E]) decoded(key usecase.Key, entries iter.Seq2[eventstore.Entry, error]) iter.Seq2[usecase.Recorded[E], error] {
	return func(yield func(usecase.Recorded[E], error) bool) {
		for entry, err := range entries {
			if err != nil {
				yield(usecase.Recorded[E]{}, err)
				return
			}
			recorded, err := r.codec.Decode(entry.Payload)
			if err == nil && (recorded.Key() != key || recorded.SeqNr != entry.SeqNr) {
				err = fmt.Errorf("the payload is event %d of %s of tenant %q", recorded.SeqNr, recorded.Key(), recorded.Tenant)
			}
			if err != nil {
				err = fmt.Errorf("event %d of %s: %w", entry.SeqNr, key, err)
			}
			if !yield(recorded, err) || err != nil {
				return
			}
		}
	}
}
