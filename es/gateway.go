package es

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"
)

// EventPersistenceGateway is an event store. For every aggregate it keeps a journal of entries numbered 1, 2, 3 ...
// without gaps, a head whose version is the number of the last entry, and snapshots of states. It is all that commands
// need; [Journal], [Lookup], [DueFinder], [Sequences], [Spool] and [Maintainer] are further things that a store may do.
// All methods may be called concurrently, from any number of processes.
//
// Errors: [ErrConflict], [HandledError] and [InconsistentError] as described below; [ErrUnavailable], wrapped, when the
// store did not answer within the gateway's retries or ctx's time; anything else is a fault. estest tests this
// contract.
type EventPersistenceGateway interface {
	// Append writes entries, head and receipts in one transaction, at most MaxAppend entries and receipts together. The
	// entries must follow ExpectedVersion without gaps. It fails with ErrConflict when the head is not at
	// ExpectedVersion, with a *HandledError when a receipt with one of the command ids exists, and with an
	// *InconsistentError when the head is at ExpectedVersion but the journal is beyond it. A write that was committed
	// although its answer was lost is recognised as this call's own and counts as success.
	Append(ctx context.Context, write Append) error

	// AskForTurn is for a writer that keeps getting ErrConflict: it makes the next Append with Heed fail, so that other
	// writers learn of this one. An Append without Heed clears the request.
	AskForTurn(ctx context.Context, id AggregateID) error

	// Receipt returns the receipt of a command id of the tenant, read consistently; false if there is none. It may be
	// missing once it has expired.
	Receipt(ctx context.Context, tenant Tenant, commandID string) (Receipt, bool, error)

	Reader

	// SaveSnapshot stores a state as the latest snapshot, so that readers see it complete or not at all, and trims
	// older snapshots beyond the number that the gateway keeps. A version that is not newer than the latest snapshot
	// changes nothing as long as the latest can be read completely. A version beyond the journal is an error.
	SaveSnapshot(ctx context.Context, id AggregateID, snapshot Snapshot) error

	// Snapshots yields the complete snapshots with Version <= head.Version, latest first, and finally the state after
	// entry 1. head is one that Head has returned, or that with an earlier Version. A snapshot with missing parts or a
	// wrong checksum is logged and skipped: missing snapshots never change a result. It ends after an error.
	Snapshots(ctx context.Context, id AggregateID, head Head) iter.Seq2[Snapshot, error]
}

// Reader reads the events of an aggregate.
type Reader interface {
	// Head reads the aggregate's head consistently: it shows every Append that was acknowledged before. For an
	// aggregate that does not exist it returns the zero Head. An invalid snapshot pointer (beyond the version, or not a
	// number) is logged and read as 0.
	Head(ctx context.Context, id AggregateID) (Head, error)

	// Verify fails with an *InconsistentError when the journal has the event after head.Version and the stored head
	// still shows that version. It costs one or two consistent reads.
	Verify(ctx context.Context, id AggregateID, head Head) error

	// Entries yields the entries with after < SeqNr <= upTo in order and without gaps, also when an index is
	// incomplete, page by page. upTo is a version that a Head has shown: a missing entry is an *InconsistentError. It
	// ends after an error.
	Entries(ctx context.Context, id AggregateID, after, upTo uint64) iter.Seq2[Entry, error]
}

// Journal reads the events of all aggregates: for projections, rebuilds and repairs.
type Journal interface {
	Reader

	// Heads yields every aggregate of the type with its head, in any order: for repairs, not for commands. Concurrent
	// writes may or may not show. A head that can't be read is yielded as version 0, and Head fails with an
	// *InconsistentError. It ends after an error.
	Heads(ctx context.Context, aggregateType string) iter.Seq2[AggregateHead, error]

	// JournalParts returns the best number of parts to read concurrently with ReadJournal.
	JournalParts() int

	// ReadJournal yields the entries of a part of the whole journal page by page, after a page's Next or from the
	// beginning (""), with far fewer calls than aggregate by aggregate. All entries of an aggregate are in the same
	// part, in no reliable order. It may include concurrent writes. It ends after an error.
	ReadJournal(ctx context.Context, part, parts int, after string) iter.Seq2[JournalPage, error]
}

// JournalPage is some entries of the journal, of any aggregates, and the position of the next page.
type JournalPage struct {
	Entries []Queued // their Position is the queue's, or 0
	Next    string   // the store's own notation, ASCII
}

// Lookup finds single entries of an aggregate.
type Lookup interface {
	// EntriesAt yields the entries with these numbers, which ascend, read consistently and some at a time. A Head has
	// shown a version that is not below them: a missing entry is an *InconsistentError. It ends after an error.
	EntriesAt(ctx context.Context, id AggregateID, seqNrs []uint64) iter.Seq2[Entry, error]

	// EntryByCommand returns the aggregate's entry with a command id, read consistently; false if there is none. Every
	// store finds the entries of commands with a receipt, until it expires. A store may find the others, too.
	EntryByCommand(ctx context.Context, id AggregateID, commandID string) (Entry, bool, error)
}

// Store is all that the stores of the library do. Programs open it, and pass it on to those who each ask for a part.
type Store interface {
	EventPersistenceGateway
	Journal
	Lookup
	Sequences
	Spool
	Maintainer
}

// DueFinder finds aggregates that need a snapshot.
type DueFinder interface {
	// SnapshotsDue yields the aggregates of the type with at least events events since their latest snapshot, in any
	// order. It ends after an error.
	SnapshotsDue(ctx context.Context, aggregateType string, events uint64) iter.Seq2[AggregateHead, error]
}

// Head is an aggregate's optimistic lock and its pointer to the latest snapshot. The zero Head is that of an aggregate
// that does not exist.
type Head struct {
	Version         uint64 // number of the last entry
	SnapshotVersion uint64 // version of the latest complete snapshot; 0: there is none
}

// Check returns an error when the snapshot's version is 0 or beyond the journal.
func (h Head) Check(snapshot Snapshot) error {
	if snapshot.Version == 0 || snapshot.Version > h.Version {
		return fmt.Errorf("the snapshot has version %d, but the journal has version %d", snapshot.Version, h.Version)
	}
	return nil
}

// AggregateHead is an aggregate's id and head.
type AggregateHead struct {
	ID AggregateID
	Head
}

// Entry is an event in the journal. Payload is the complete event; the other fields repeat what stores keep in keys and
// columns. Reading returns SeqNr, EventID, OccurredAt to the millisecond and Payload to the byte; the other fields only
// if the store has columns for them.
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

// Receipt is the answer to a command that was sent with an idempotency key. It is written with the command's events and
// found by its command id.
type Receipt struct {
	CommandID   string
	Fingerprint string // distinguishes a repeat from another request with the same key
	Answer      []byte
	ExpiresAt   time.Time // when the store may delete it
}

// ErrOutdated means that a snapshot is intact, but of a form that is no longer used. An earlier snapshot or the entries
// are used instead.
var ErrOutdated = errors.New("the snapshot is outdated")

// Snapshot is an aggregate's state after entry Version.
type Snapshot struct {
	Version uint64
	Payload []byte
}
