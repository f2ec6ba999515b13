package es

import (
	"errors"
	"fmt"
)

// MaxAppend is the maximum number of entries and receipts in one [Append], together. With the items that lock the
// aggregate they must fit in one transaction; DynamoDB's holds 100 items.
const MaxAppend = 98

// Append is one write to one aggregate.
type Append struct {
	ID              AggregateID
	ExpectedVersion uint64 // 0: the aggregate must not exist
	Entries         []Entry
	FirstSnapshot   []byte // the state after entry 1; only with ExpectedVersion 0
	Receipts        []Receipt
	// Heed also makes the write fail with ErrConflict when another writer has asked for a turn since the last write. It
	// is for a writer that knows of no others.
	Heed bool
}

// Check reports a write that breaks the contract of [Journal.Append], whatever is stored. A gateway calls it before it
// accesses its store.
func (a Append) Check() error {
	switch {
	case len(a.Entries) == 0:
		return errors.New("there are no entries")
	case len(a.Entries)+len(a.Receipts) > MaxAppend:
		return fmt.Errorf("%d entries and %d receipts are more than %d together; split the write", len(a.Entries), len(a.Receipts), MaxAppend)
	case a.ExpectedVersion > 0 && a.FirstSnapshot != nil:
		return errors.New("a first snapshot is only allowed with entry 1")
	}
	for i, entry := range a.Entries {
		if want := a.ExpectedVersion + uint64(i) + 1; entry.SeqNr != want {
			return fmt.Errorf("entry %d of the write has number %d, not %d", i+1, entry.SeqNr, want)
		}
		if entry.EventID == "" || len(entry.Payload) == 0 {
			return fmt.Errorf("entry %d has no event id or no payload", entry.SeqNr)
		}
		if entry.OccurredAt.UnixMilli() < 0 {
			return fmt.Errorf("entry %d has the time %s, which is before 1970; correct the writer's clock", entry.SeqNr, entry.OccurredAt)
		}
	}
	return nil
}

// NextVersion returns the aggregate's version after the write.
func (a Append) NextVersion() uint64 { return a.ExpectedVersion + uint64(len(a.Entries)) }

// ErrConflict: the aggregate is not at the expected version. Load it again and decide again.
var ErrConflict = errors.New("the aggregate is not at the expected version")

// InconsistentError: an aggregate's head and journal contradict each other, for example after the tables were restored
// to different times. Nothing can be appended until an operator has repaired it.
type InconsistentError struct {
	ID    AggregateID
	Head  uint64 // version of the head; 0: there is no head
	Event uint64 // number of an event that the journal has beyond the head, or lacks below it
	Cause error  // if set: why the head can't be read
}

func (e *InconsistentError) Error() string {
	switch {
	case e.Cause != nil:
		return fmt.Sprintf("the head of %s can't be read: %v", e.ID, e.Cause)
	case e.Event > e.Head:
		return fmt.Sprintf("the head of %s says version %d, but the journal has event %d", e.ID, e.Head, e.Event)
	}
	return fmt.Sprintf("the head of %s says version %d, but the journal lacks event %d", e.ID, e.Head, e.Event)
}

// Class returns the error's class for KindOf.
func (*InconsistentError) Class() string { return "inconsistent" }

// Is makes every InconsistentError match [ErrInconsistent].
func (*InconsistentError) Is(target error) bool { return target == ErrInconsistent }

// ErrInconsistent matches every [InconsistentError] in errors.Is.
var ErrInconsistent = errors.New("head and journal contradict each other")

// HandledError: a command with this id was handled before; Receipt holds the answer, or only the command's id if the
// store has lost the receipt.
type HandledError struct{ Receipt Receipt }

func (e *HandledError) Error() string {
	return fmt.Sprintf("command %s was handled before", e.Receipt.CommandID)
}
