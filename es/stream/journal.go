package stream

import (
	"context"
	"iter"

	"example.com/threads/es"
	"example.com/threads/es/projection"
)

// JournalReader reads an event store's journal for projections; it implements their port.
type JournalReader struct{ journal es.Journal }

var _ projection.Journal = (*JournalReader)(nil)

// NewJournalReader returns a reader of journal.
func NewJournalReader(journal es.Journal) *JournalReader { return &JournalReader{journal} }

// EventsAfter implements [projection.Journal].
func (r *JournalReader) EventsAfter(ctx context.Context, key es.AggregateID, after uint64) iter.Seq2[projection.Record, error] {
	return func(yield func(projection.Record, error) bool) {
		id := es.AggregateID{Tenant: key.Tenant, Type: key.Type, ID: key.ID}
		head, err := r.journal.Head(ctx, id)
		if err != nil {
			yield(projection.Record{}, err)
			return
		}
		if after > head.Version { // the caller knows later events: either the journal lost them, or the head is wrong
			if err := r.journal.Verify(ctx, id, head); err != nil {
				yield(projection.Record{}, err)
				return
			}
		}
		for entry, err := range r.journal.Entries(ctx, id, after, head.Version) {
			if !yield(projection.Record{Key: key, SeqNr: entry.SeqNr, Payload: entry.Payload}, err) || err != nil {
				return
			}
		}
	}
}

// Remaining returns an aggregate of the key's type that has an event: the key's own if it has one; false: there is
// none. Only if the key's own has none, all aggregates are listed.
func (r *JournalReader) Remaining(ctx context.Context, key es.AggregateID) (es.AggregateID, bool, error) {
	store, able := r.journal.(es.Maintainer)
	if !able {
		return key, true, nil
	}
	has := func(key es.AggregateID) (bool, error) {
		for _, err := range store.StoredEntries(ctx, key) {
			return err == nil, err
		}
		return false, nil
	}
	if found, err := has(key); found || err != nil {
		return key, found, err
	}
	for stored, err := range store.StoredAggregates(ctx) {
		if err != nil {
			return es.AggregateID{}, false, err
		}
		other, unnamed := KeyOf(stored.ID.Tenant.String(), stored.ID.Type, stored.ID.ID)
		if unnamed != nil || other.Type != key.Type || len(stored.Faults) > 0 {
			continue
		}
		if found, err := has(other); found || err != nil {
			return other, found, err
		}
	}
	return es.AggregateID{}, false, nil
}

// Heads implements [projection.Journal]. What names no aggregate is left out.
func (r *JournalReader) Heads(ctx context.Context, aggregateType string) iter.Seq2[projection.Head, error] {
	return func(yield func(projection.Head, error) bool) {
		for aggregate, err := range r.journal.Heads(ctx, aggregateType) {
			key, unnamed := KeyOf(aggregate.ID.Tenant.String(), aggregate.ID.Type, aggregate.ID.ID)
			if err == nil && unnamed != nil {
				continue
			}
			if !yield(projection.Head{Key: key, Version: aggregate.Version}, err) || err != nil {
				return
			}
		}
	}
}
