package eventstore

import (
	"errors"
	"fmt"
)

// MaxAppend is how many entries and receipts one Append can hold together.
const MaxAppend = 99

// Append is one write to one aggregate.
type Append struct {
	ID              AggregateID
	ExpectedVersion uint64 // 0: the aggregate must not exist yet
	Entries         []Entry
	FirstSnapshot   []byte // the state after entry 1; with ExpectedVersion 0 only
	Receipts        []Receipt
	// Heed makes the write fail with ErrConflict, too, when another writer has asked for a turn since the last write: for a
	// writer who knows of no others.
	Heed bool
}

// Check says what of the contract of [Journal.Append] the write breaks by itself, whatever is stored; nil: nothing. A gateway
// asks before it goes to its store.
func (a Append) Check() error {
	switch {
	case len(a.Entries) == 0:
		return errors.New("there are no entries")
	case len(a.Entries)+len(a.Receipts) > MaxAppend:
		return fmt.Errorf("%d entries and %d receipts are more than %d", len(a.Entries), len(a.Receipts), MaxAppend)
	case a.ExpectedVersion > 0 && a.FirstSnapshot != nil:
		return errors.New("the first snapshot comes with the first entry only")
	}
	for i, entry := range a.Entries {
		if want := a.ExpectedVersion + uint64(i) + 1; entry.SeqNr != want {
			return fmt.Errorf("entry %d of the write has number %d, not %d", i+1, entry.SeqNr, want)
		}
		if entry.EventID == "" || len(entry.Payload) == 0 {
			return fmt.Errorf("entry %d has no event id, or no payload", entry.SeqNr)
		}
		if entry.OccurredAt.UnixMilli() < 0 {
			return fmt.Errorf("entry %d is from %s: stores take no times before 1970; set the writer's clock right", entry.SeqNr, entry.OccurredAt)
		}
	}
	return nil
}

// NextVersion is the aggregate's version after the write.
func (a Append) NextVersion() uint64 { return a.ExpectedVersion + uint64(len(a.Entries)) }

// ErrConflict says that the aggregate is not at the expected version: load it again and decide again.
var ErrConflict = errors.New("the aggregate is not at the expected version")

// ErrUnavailable says that the store did not answer in time: the outcome of a write is unknown.
var ErrUnavailable error = unavailable{}

type unavailable struct{}

func (unavailable) Error() string { return "the event store did not answer in time" }

// Class is how use cases classify it.
func (unavailable) Class() string { return "unavailable" }

// InconsistentError says that an aggregate's head and journal contradict each other, as after the tables of a store were
// restored to different moments. Nothing can be appended until somebody has mended it.
type InconsistentError struct {
	ID    AggregateID
	Head  uint64 // version that the head says; 0: there is no head
	Event uint64 // number of the event that the journal has beyond the head, or lacks below it
}

func (e *InconsistentError) Error() string {
	if e.Event > e.Head {
		return fmt.Sprintf("the head of %s says version %d, but the journal has event %d", e.ID, e.Head, e.Event)
	}
	return fmt.Sprintf("the head of %s says version %d, but the journal lacks event %d", e.ID, e.Head, e.Event)
}

// Class is how use cases classify it.
func (*InconsistentError) Class() string { return "inconsistent" }

// Is makes every one of them [ErrInconsistent].
func (*InconsistentError) Is(target error) bool { return target == ErrInconsistent }

// ErrInconsistent stands for every [InconsistentError] in errors.Is.
var ErrInconsistent = errors.New("head and journal contradict each other")

// HandledError says that a command with this id was handled before, and with which answer.
type HandledError struct{ Receipt Receipt }

func (e *HandledError) Error() string {
	return fmt.Sprintf("command %s was handled before", e.Receipt.CommandID)
}
