package stream

import (
	"context"
	"iter"

	"example.com/threads/es"
	"example.com/threads/es/projection"
)

// JournalReader reads an event store's journal for projections and rebuilds, whose ports it fills.
type JournalReader struct{ journal es.Journal }

var _ projection.WholeJournal = (*JournalReader)(nil)

// NewJournalReader returns a reader of journal.
func NewJournalReader(journal es.Journal) *JournalReader { return &JournalReader{journal} }

// EventsAfter implements [projection.Journal].
func (r *JournalReader) EventsAfter(ctx context.Context, key es.AggregateID, after uint64) iter.Seq2[projection.Record, error] {
	return func(yield func(projection.Record, error) bool) {
		head, err := r.journal.Head(ctx, key)
		if err != nil {
			yield(projection.Record{}, err)
			return
		}
		if after > head.Version { // the caller knows later events: either the journal lost them, or the head is wrong
			if err := r.journal.Verify(ctx, key, head); err != nil {
				yield(projection.Record{}, err)
				return
			}
		}
		for entry, err := range r.journal.Entries(ctx, key, after, head.Version) {
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

// Parts implements [projection.WholeJournal].
func (r *JournalReader) Parts() int { return r.journal.JournalParts() }

// Read implements [projection.WholeJournal]. What names no aggregate is left out.
func (r *JournalReader) Read(ctx context.Context, part, parts int, after string) iter.Seq2[projection.Page, error] {
	return func(yield func(projection.Page, error) bool) {
		for found, err := range r.journal.ReadJournal(ctx, part, parts, after) {
			page := projection.Page{Next: found.Next, Records: make([]projection.Record, 0, len(found.Entries))}
			for _, entry := range found.Entries {
				if key, err := KeyOf(entry.ID.Tenant.String(), entry.ID.Type, entry.ID.ID); err == nil {
					page.Records = append(page.Records, projection.Record{Key: key, SeqNr: entry.SeqNr, Payload: entry.Payload})
				}
			}
			if !yield(page, err) || err != nil {
				return
			}
		}
	}
}
