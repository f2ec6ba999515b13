package es

import (
	"context"
	"iter"
	"slices"
)

// Maintainer is an optional capability of gateways, for operators. It reads stored data even if damaged, and repairs
// heads and snapshots. No method changes an entry. All may be called while programs run.
type Maintainer interface {
	// StoredAggregates yields every aggregate with an entry or a head, of all types and tenants, at least once, in no
	// order. It may include concurrent writes. It ends after an error.
	StoredAggregates(ctx context.Context) iter.Seq2[StoredAggregate, error]

	// StoredHead reads the aggregate's head consistently, even if it is damaged.
	StoredHead(ctx context.Context, id AggregateID) (StoredHead, error)

	// StoredEntries yields every entry of the aggregate that existed before the call, in no order, independent of the
	// head. It does not use an index that may lag. It ends after an error.
	StoredEntries(ctx context.Context, id AggregateID) iter.Seq2[StoredEntry, error]

	// StoredSnapshots yields every unexpired snapshot of the aggregate, intact or not, in no order. Each is read
	// completely. It ends after an error.
	StoredSnapshots(ctx context.Context, id AggregateID) iter.Seq2[StoredSnapshot, error]

	// ReplaceHead replaces the result of StoredHead, which may be a missing head, by head. It fails with ErrConflict if
	// another head is stored by now, and succeeds if head is.
	ReplaceHead(ctx context.Context, id AggregateID, found StoredHead, head Head) error

	// DropSnapshot deletes a snapshot or its remains. A missing snapshot is no error.
	DropSnapshot(ctx context.Context, id AggregateID, version uint64) error
}

// Fault is an unreadable part of stored data, or one that contradicts its key.
type Fault struct {
	Field    string `json:"field"`
	Expected string `json:"expected"`
	Found    string `json:"found"`
}

// StoredAggregate is an aggregate with stored data. With Faults it is not where programs would look for it.
type StoredAggregate struct {
	ID     AggregateID
	Faults []Fault
}

// StoredHead is a head as stored. Unreadable parts are zero, and described in Faults.
type StoredHead struct {
	Head
	Exists bool
	Faults []Fault
}

// Equal reports whether both are the same, including their faults.
func (h StoredHead) Equal(other StoredHead) bool {
	return h.Head == other.Head && h.Exists == other.Exists && slices.Equal(h.Faults, other.Faults)
}

// Is reports whether head is stored, without a fault.
func (h StoredHead) Is(head Head) bool { return h.Equal(StoredHead{Head: head, Exists: true}) }

// StoredEntry is an entry as stored, under the number of its key. Unreadable parts are zero, and described in Faults.
type StoredEntry struct {
	Entry
	Faults []Fault
}

// StoredSnapshot is a snapshot as it is stored.
type StoredSnapshot struct {
	Version uint64
	Broken  string // why it is unusable; empty: it is intact
	Payload []byte // of an intact one
	// Unlisted: an earlier writer's, which is not in the index. The head need not point to it.
	Unlisted bool
}
