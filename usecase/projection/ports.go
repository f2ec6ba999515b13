package projection

import (
	"context"
	"fmt"
	"iter"

	"example.com/threads/usecase"
)

// Record is one journal record as a source saw it.
type Record struct {
	Key   usecase.ThreadKey
	SeqNr uint64
	Event usecase.Recorded // where Err is nil
	Err   *UnreadableError // why the record can't be read as an event; nil for one that can
}

// UnreadableError says that a journal record is there but is no event that this program knows.
type UnreadableError struct {
	Key     usecase.ThreadKey
	SeqNr   uint64
	EventID string // as far as it could be read
	Payload []byte // as it stands in the journal
	Cause   error
}

func (e *UnreadableError) Error() string {
	return fmt.Sprintf("event %d (id %q) of thread %s can't be read: %v", e.SeqNr, e.EventID, e.Key.Thread, e.Cause)
}

func (e *UnreadableError) Unwrap() error { return e.Cause }

// Checkpoint is how far a shard of a source has been projected. Position is the source's own notation; the source
// reads it back, nobody else does.
type Checkpoint struct {
	Source   string // such as the stream's ARN, or the queue's name
	Shard    string
	Position string
}

// Batch is what a source hands over at once: records in the source's order, and the checkpoint to remember with the
// rows that they change. Both may be empty.
type Batch struct {
	Records    []Record
	Checkpoint Checkpoint
}

// Journal is where every event is. It reads consistently: what was acknowledged before the call is seen by it.
type Journal interface {
	// EventsAfter yields the events of a thread whose seq_nr is above after, in order and without a gap, read page by
	// page. An event that can't be read comes as an *UnreadableError, after which the sequence ends; so it does after any
	// other error. A thread that does not exist has no events.
	EventsAfter(ctx context.Context, key usecase.ThreadKey, after uint64) iter.Seq2[usecase.Recorded, error]
	// Heads yields every thread and its version, in no order: for repairs, not for the path of an event. It ends after
	// an error.
	Heads(ctx context.Context) iter.Seq2[Head, error]
}

// Head is a thread and its version in the journal.
type Head struct {
	Key     usecase.ThreadKey
	Version uint64
}
