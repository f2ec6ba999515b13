package stream

import (
	"context"
	"iter"

	"example.com/threads/es"
	"example.com/threads/es/eventstore"
	"example.com/threads/es/projection"
)

// JournalReader reads an event store's journal for projections; it implements their port.
type JournalReader struct{ journal eventstore.Journal }

var _ projection.Journal = (*JournalReader)(nil)

// NewJournalReader returns a reader of journal.
func NewJournalReader(journal eventstore.Journal) *JournalReader { return &JournalReader{journal} }

// EventsAfter implements [projection.Journal].
func (r *JournalReader) EventsAfter(ctx context.Context, key es.Key, after uint64) iter.Seq2[projection.Record, error] {
	return func(yield func(projection.Record, error) bool) {
		id := eventstore.AggregateID{Tenant: key.Tenant.String(), Type: key.Type, ULID: key.ID}
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

// Heads implements [projection.Journal]. What names no aggregate is left out.
func (r *JournalReader) Heads(ctx context.Context, aggregateType string) iter.Seq2[projection.Head, error] {
	return func(yield func(projection.Head, error) bool) {
		for aggregate, err := range r.journal.Heads(ctx, aggregateType) {
			key, unnamed := KeyOf(aggregate.ID.Tenant, aggregate.ID.Type, aggregate.ID.ULID)
			if err == nil && unnamed != nil {
				continue
			}
			if !yield(projection.Head{Key: key, Version: aggregate.Version}, err) || err != nil {
				return
			}
		}
	}
}
