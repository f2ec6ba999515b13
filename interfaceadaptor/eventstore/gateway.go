package eventstore

import (
	"context"
	"fmt"
	"iter"
	"time"
)

// EventPersistenceGateway is an event store. It keeps, for every aggregate, a journal of entries numbered 1, 2, 3 ...
// without a gap, a head whose version is the number of the last entry, and snapshots of states. All methods may be
// called concurrently, from any number of processes.
//
// Errors: [ErrConflict], [HandledError] and [InconsistentError] as told below; [ErrUnavailable], wrapped, when the store did
// not answer within the gateway's retries or ctx's time; anything else is a fault. gateway/gatewaytest is this contract as a test
// suite.
type EventPersistenceGateway interface {
	Journal
	Snapshots

	// Receipt returns what was written under a command id of the tenant, read consistently; false when there is nothing,
	// or it has expired.
	Receipt(ctx context.Context, tenant, commandID string) (Receipt, bool, error)
}

// Journal is the part of an event store that holds the truth.
type Journal interface {
	// Append writes all of it - entries, head, receipts - in one transaction, or nothing. The entries must follow
	// ExpectedVersion without a gap. It fails with ErrConflict when the head is not at ExpectedVersion, and with a
	// *HandledError when a receipt with one of the command ids exists, and with an *InconsistentError when the head is at
	// ExpectedVersion and the journal is beyond it. A write that succeeded but whose answer was lost is recognised as this
	// call's own and is a success. At most MaxAppend entries and receipts together.
	Append(ctx context.Context, write Append) error

	// AskForTurn is for a writer that keeps meeting ErrConflict: it makes the next Append that heeds it fail, so that others
	// know of this writer. Any other Append ends it.
	AskForTurn(ctx context.Context, id AggregateID) error

	// Head reads the aggregate's head consistently: it shows every Append that was acknowledged before. An aggregate
	// that does not exist has the zero Head. A pointer that can't be right, beyond the version or no number, is logged and
	// reads as none.
	Head(ctx context.Context, id AggregateID) (Head, error)

	// Entries yields the entries with after < SeqNr <= upTo in order and without a gap, whatever an index shows, page
	// by page. upTo is a version that a Head has shown: an entry that is missing is an *InconsistentError. It ends after an
	// error.
	Entries(ctx context.Context, id AggregateID, after, upTo uint64) iter.Seq2[Entry, error]

	// Verify fails with an *InconsistentError when the journal has the event after a head's version, and the aggregate's
	// head is still the same. It costs a consistent read, or two.
	Verify(ctx context.Context, id AggregateID, head Head) error

	// Heads yields every aggregate of the type with its head, in no order: for repairs, not for the path of a command. What
	// is written meanwhile may or may not show. It ends after an error.
	Heads(ctx context.Context, aggregateType string) iter.Seq2[AggregateHead, error]
}

// Snapshots is the part of an event store that saves time: without it, or with broken ones, everything still holds.
type Snapshots interface {
	// SaveSnapshot stores a state as the latest one, in a way that shows it complete or not at all, and lets go of those
	// beyond the number that the gateway keeps. Saving the same version again, or an older one than the latest, changes nothing
	// as long as the latest can be read whole; a version that the journal has not reached is an error.
	SaveSnapshot(ctx context.Context, id AggregateID, snapshot Snapshot) error

	// Snapshots yields the snapshots with Version <= head.Version that can be read whole, latest first, and at last the
	// state after entry 1. One that is missing parts or fails its checksum is logged and left out. It ends after an error.
	Snapshots(ctx context.Context, id AggregateID, head Head) iter.Seq2[Snapshot, error]
}

// DueFinder is what a gateway can have beside its port: a way to find the aggregates that lack a snapshot.
type DueFinder interface {
	// SnapshotsDue yields the aggregates of the type that have had so many events since their latest snapshot, or more,
	// in no order. It ends after an error.
	SnapshotsDue(ctx context.Context, aggregateType string, events uint64) iter.Seq2[AggregateHead, error]
}

// AggregateID names an aggregate: a type such as "order", a ULID, and the tenant that it belongs to. The same ULID
// under another tenant is another aggregate.
type AggregateID struct{ Tenant, Type, ULID string }

// String is the id that stores carry as aid: type and ULID, without the tenant.
func (id AggregateID) String() string { return id.Type + "-" + id.ULID }

// Head is an aggregate's lock and pointer. The zero Head is that of an aggregate that does not exist.
type Head struct {
	Version         uint64 // number of the last entry
	SnapshotVersion uint64 // version of the latest complete snapshot; 0: none
}

// Check says why a snapshot can't be that of the aggregate: its version is none that the journal has reached.
func (h Head) Check(snapshot Snapshot) error {
	if snapshot.Version == 0 || snapshot.Version > h.Version {
		return fmt.Errorf("the snapshot's version is %d, that of the journal is %d", snapshot.Version, h.Version)
	}
	return nil
}

// AggregateHead is a head and whose it is.
type AggregateHead struct {
	ID AggregateID
	Head
}

// Entry is an event as the journal holds it. Payload is the whole event; the other fields repeat what stores keep in
// keys and columns. What comes back are SeqNr, EventID, OccurredAt to the millisecond, and Payload to the byte; the others where
// the store has a place for them.
type Entry struct {
	SeqNr         uint64
	EventID       string
	EventType     string
	OccurredAt    time.Time
	UserID        string
	CommandID     string
	CorrelationID string
	Payload       []byte // JSON
}

// Receipt is the answer to a command that was sent with an idempotency key: written with the command's events, found
// again by its command id.
type Receipt struct {
	CommandID   string
	Fingerprint string // of the request, to tell a repeat from another request with the same key
	Answer      []byte
	ExpiresAt   time.Time // when the store may forget it
}

// Snapshot is an aggregate's state after entry Version.
type Snapshot struct {
	Version uint64
	Payload []byte
}
