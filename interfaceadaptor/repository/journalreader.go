package repository

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"example.com/threads/domain/thread"
	"example.com/threads/interfaceadaptor/eventcodec"
	"example.com/threads/usecase"
	"example.com/threads/usecase/projection"
)

// JournalReader reads threads' events for the projection, whose port it fills.
type JournalReader struct{ journal Journal }

var _ projection.Journal = (*JournalReader)(nil)

// NewJournalReader returns a reader of journal.
func NewJournalReader(journal Journal) *JournalReader { return &JournalReader{journal} }

// EventsAfter reads up to the version that the thread's head shows at the start.
func (r *JournalReader) EventsAfter(ctx context.Context, key usecase.ThreadKey, after uint64) iter.Seq2[usecase.Recorded, error] {
	return func(yield func(usecase.Recorded, error) bool) {
		id := aggregateOf(key)
		head, err := r.journal.Head(ctx, id)
		if err != nil {
			yield(usecase.Recorded{}, err)
			return
		}
		for entry, err := range r.journal.Entries(ctx, id, after, head.Version) {
			var recorded usecase.Recorded
			if err == nil {
				recorded, err = ReadEntry(key, entry.SeqNr, entry.Payload)
			}
			if !yield(recorded, err) || err != nil {
				return
			}
		}
	}
}

// Heads reads every thread and its version.
func (r *JournalReader) Heads(ctx context.Context) iter.Seq2[projection.Head, error] {
	return func(yield func(projection.Head, error) bool) {
		for aggregate, err := range r.journal.Heads(ctx, aggregateType) {
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

func headOf(aggregate AggregateHead) (projection.Head, error) {
	id, errID := thread.ParseID[thread.Thread](aggregate.ID.ULID)
	tenant, errTenant := usecase.ParseTenant(aggregate.ID.Tenant)
	if err := errors.Join(errID, errTenant); err != nil {
		return projection.Head{}, fmt.Errorf("the head of %s of tenant %q can't be read: %w", aggregate.ID, aggregate.ID.Tenant, err)
	}
	return projection.Head{Key: usecase.ThreadKey{Tenant: tenant, Thread: id}, Version: aggregate.Version}, nil
}

// ReadEntry reads the payload of a journal entry that stands at seqNr of the thread. A payload that is no event, or
// another thread's, or another number's, is a *[projection.UnreadableError].
func ReadEntry(key usecase.ThreadKey, seqNr uint64, payload []byte) (usecase.Recorded, error) {
	recorded, err := eventcodec.Decode(payload)
	if err == nil && (recorded.Key() != key || recorded.SeqNr != seqNr) {
		err = fmt.Errorf("it says that it is event %d of thread %s of tenant %q", recorded.SeqNr, recorded.Thread, recorded.Tenant)
	}
	if err == nil {
		return recorded, nil
	}
	unreadable := &projection.UnreadableError{Key: key, SeqNr: seqNr, EventID: recorded.EventID.String(), Payload: payload, Cause: err}
	var broken *eventcodec.DecodeError
	if errors.As(err, &broken) {
		unreadable.EventID = broken.EventID
	}
	return usecase.Recorded{}, unreadable
}
