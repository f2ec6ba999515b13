package projection

import (
	"context"
	"iter"

	"example.com/threads/es"
)

// JournalReader reads an event store's journal for projections and rebuilds, whose ports it fills.
type JournalReader struct{ journal es.Journal }

var _ WholeJournal = (*JournalReader)(nil)

// NewJournalReader returns a reader of journal.
func NewJournalReader(journal es.Journal) *JournalReader { return &JournalReader{journal} }

// EventsAfter implements [Journal].
func (r *JournalReader) EventsAfter(ctx context.Context, key es.AggregateID, after uint64) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		head, err := r.journal.Head(ctx, key)
		if err != nil {
			yield(Record{}, err)
			return
		}
		if after > head.Version { // the caller knows later events: either the journal lost them, or the head is wrong
			if err := r.journal.Verify(ctx, key, head); err != nil {
				yield(Record{}, err)
				return
			}
		}
		for entry, err := range r.journal.Entries(ctx, key, after, head.Version) {
			if !yield(Record{Key: key, SeqNr: entry.SeqNr, Payload: entry.Payload}, err) || err != nil {
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
		if stored.ID.Check() != nil || stored.ID.Type != key.Type || len(stored.Faults) > 0 {
			continue
		}
		if found, err := has(stored.ID); found || err != nil {
			return stored.ID, found, err
		}
	}
	return es.AggregateID{}, false, nil
}

// Heads implements [Journal]. What names no aggregate is left out.
func (r *JournalReader) Heads(ctx context.Context, aggregateType string) iter.Seq2[Head, error] {
	return func(yield func(Head, error) bool) {
		for aggregate, err := range r.journal.Heads(ctx, aggregateType) {
			if err == nil && aggregate.ID.Check() != nil {
				continue
			}
			if !yield(Head{Key: aggregate.ID, Version: aggregate.Version}, err) || err != nil {
				return
			}
		}
	}
}

// Parts implements [WholeJournal].
func (r *JournalReader) Parts() int { return r.journal.JournalParts() }

// Read implements [WholeJournal]. What names no aggregate is left out.
func (r *JournalReader) Read(ctx context.Context, part, parts int, after string) iter.Seq2[Page, error] {
	return func(yield func(Page, error) bool) {
		for found, err := range r.journal.ReadJournal(ctx, part, parts, after) {
			page := Page{Next: found.Next, Records: make([]Record, 0, len(found.Entries))}
			for _, entry := range found.Entries {
				if entry.ID.Check() == nil {
					page.Records = append(page.Records, Record{Key: entry.ID, SeqNr: entry.SeqNr, Payload: entry.Payload})
				}
			}
			if !yield(page, err) || err != nil {
				return
			}
		}
	}
}
