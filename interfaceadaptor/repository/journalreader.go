package repository

import (
	"context"
	"iter"

	"example.com/threads/domain/thread"
	"example.com/threads/interfaceadaptor/eventstore"
	"example.com/threads/usecase"
	"example.com/threads/usecase/projection"
)

// JournalReader reads threads' events for the projection, whose port it fills.
type JournalReader struct{ journal eventstore.Journal }

var _ projection.Journal = (*JournalReader)(nil)

// NewJournalReader returns a reader of journal.
func NewJournalReader(journal eventstore.Journal) *JournalReader { return &JournalReader{journal} }

// EventsAfter reads up to the version that the thread's head shows at the start.
func (r *JournalReader) EventsAfter(ctx context.Context, key usecase.Key, after uint64) iter.Seq2[usecase.Recorded[thread.Event], error] {
	return func(yield func(usecase.Recorded[thread.Event], error) bool) {
		id := aggregateOf(key)
		head, err := r.journal.Head(ctx, id)
		if err != nil {
			yield(usecase.Recorded[thread.Event]{}, err)
			return
		}
		for entry, err := range r.journal.Entries(ctx, id, after, head.Version) {
			if err != nil {
				yield(usecase.Recorded[thread.Event]{}, err)
				return
			}
			record := RecordOf(key, entry.SeqNr, entry.Payload)
			if record.Err != nil {
				yield(usecase.Recorded[thread.Event]{}, record.Err)
				return
			}
			if !yield(record.Event, nil) {
				return
			}
		}
	}
}

// Heads reads every thread and its version.
func (r *JournalReader) Heads(ctx context.Context) iter.Seq2[projection.Head, error] {
	return func(yield func(projection.Head, error) bool) {
		for aggregate, err := range r.journal.Heads(ctx, AggregateType) {
			var head projection.Head
			if err == nil {
				head, err = headOf(aggregate)
			}
			if !yield(head, err) || err != nil {
				return
			}
		}
	}
}

func headOf(aggregate eventstore.AggregateHead) (projection.Head, error) {
	key, err := KeyOf(aggregate.ID)
	return projection.Head{Key: key, Version: aggregate.Version}, err
}
