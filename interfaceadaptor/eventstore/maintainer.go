package eventstore

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"
)

// Maintainer is what a gateway can have beside its port, for operators: it tells what the store holds, whole or
// broken, and mends what is not a part of the truth. No method changes an entry. All may be called beside running
// programs.
type Maintainer interface {
	// StoredAggregates yields every aggregate that has an entry or a head, of all types and tenants, at least once,
	// in no order. What is written meanwhile may or may not show. It ends after an error.
	StoredAggregates(ctx context.Context) iter.Seq2[StoredAggregate, error]

	// StoredHead reads the aggregate's head consistently, whatever is in it.
	StoredHead(ctx context.Context, id AggregateID) (StoredHead, error)

	// StoredEntries yields every entry of the aggregate that was there before the call, in no order, whatever the head
	// says. It does not go by an index that may lag. It ends after an error.
	StoredEntries(ctx context.Context, id AggregateID) iter.Seq2[StoredEntry, error]

	// StoredSnapshots yields every snapshot of the aggregate, whole or not, in no order; those that have expired are
	// left out. Every one of them is read whole. It ends after an error.
	StoredSnapshots(ctx context.Context, id AggregateID) iter.Seq2[StoredSnapshot, error]

	// ReplaceHead puts head in the place of what StoredHead has found, or of nothing where nothing was found. It
	// fails with ErrConflict when something else is stored by now, and succeeds when head is.
	ReplaceHead(ctx context.Context, id AggregateID, found StoredHead, head Head) error

	// DropSnapshot deletes a snapshot, or what is left of it. One that is not there is no error.
	DropSnapshot(ctx context.Context, id AggregateID, version uint64) error
}

// Fault is a part of something stored that can't be read or contradicts its place.
type Fault struct {
	Field    string `json:"field"`
	Expected string `json:"expected"`
	Found    string `json:"found"`
}

// StoredAggregate is an aggregate that something is stored for. With Faults it is not where programs would look for it.
type StoredAggregate struct {
	ID     AggregateID
	Faults []Fault
}

// StoredHead is a head as it is stored. What can't be read of it is zero, and told in Faults.
type StoredHead struct {
	Head
	Exists bool
	Faults []Fault
}

// Equal tells that both are the same to the last fault.
func (h StoredHead) Equal(other StoredHead) bool {
	return h.Head == other.Head && h.Exists == other.Exists && slices.Equal(h.Faults, other.Faults)
}

// Is tells that head is what is stored, without a fault.
func (h StoredHead) Is(head Head) bool { return h.Equal(StoredHead{Head: head, Exists: true}) }

// StoredEntry is an entry as it is stored, under the number of its key. What can't be read of it is zero, and told in
// Faults.
type StoredEntry struct {
	Entry
	Faults []Fault
}

// StoredSnapshot is a snapshot as it is stored.
type StoredSnapshot struct {
	Version uint64
	Broken  string // why it can't be used; empty: it is whole
	Payload []byte // of a whole one
}

// ParseAggregateID takes the text of [AggregateID.String] apart.
func ParseAggregateID(tenant, text string) (AggregateID, error) {
	dash := strings.LastIndexByte(text, '-')
	if dash <= 0 || dash == len(text)-1 {
		return AggregateID{}, fmt.Errorf("%q is no id of an aggregate; expected its type and ULID, such as <type>-01H42K4ABWQ5V2XQEP3A48VE0Z", text)
	}
	return AggregateID{Tenant: tenant, Type: text[:dash], ULID: text[dash+1:]}, nil
}

// ReceiptPruner is what a gateway can have whose store does not forget receipts by itself.
type ReceiptPruner interface {
	// PruneReceipts deletes the receipts that expired before a time, and counts them; with dryRun it only counts.
	PruneReceipts(ctx context.Context, expiredBefore time.Time, dryRun bool) (int, error)
}
