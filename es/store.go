package es

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"regexp"
	"slices"
	"time"
)

// EventPersistenceGateway is what commands need of an event store. For every aggregate it keeps a journal of entries
// numbered 1, 2, 3 ... without gaps, a head whose version is the number of the last entry, and snapshots of states. All
// methods may be called concurrently, from any number of processes. Beside the errors below they return
// [ErrUnavailable], wrapped, when the store did not answer within the gateway's retries or ctx's time. Iterators end
// after an error. estest tests this contract.
type EventPersistenceGateway interface {
	// Append writes entries, head and receipts in one transaction, at most MaxAppend entries and receipts together. The
	// entries must follow ExpectedVersion without gaps. It fails with ErrConflict when the head is not at
	// ExpectedVersion, with a *HandledError when a receipt with one of the command ids exists, and with an
	// *InconsistentError when the head is at ExpectedVersion but the journal is beyond it. A write that was committed
	// although its answer was lost is recognised as this call's own and counts as success.
	Append(ctx context.Context, write Append) error

	// AskToYield makes the next Append with Heed fail, so that others learn of a writer that keeps getting
	// ErrConflict. An Append without Heed clears the request.
	AskToYield(ctx context.Context, id AggregateID) error

	// Receipt reads the receipt of a command id consistently; false if there is none. One that has expired may be gone.
	Receipt(ctx context.Context, tenant Tenant, commandID string) (Receipt, bool, error)

	Reader

	// SaveSnapshot stores a state as the latest snapshot, so that readers see it complete or not at all, and trims
	// older snapshots beyond the number that the gateway keeps. A version that is not newer than the latest snapshot
	// changes nothing as long as the latest can be read completely. A version beyond the journal is an error.
	SaveSnapshot(ctx context.Context, id AggregateID, snapshot Snapshot) error

	// Snapshots yields the snapshots with Version <= head.Version, latest first, and finally the state after
	// entry 1. head is one that Head has returned, or that with an earlier Version. One with missing parts or a wrong
	// checksum is Broken: the next one or the entries are used instead, with the same result.
	Snapshots(ctx context.Context, id AggregateID, head Head) iter.Seq2[Snapshot, error]
}

// Reader reads the events of an aggregate.
type Reader interface {
	// Head reads the aggregate's head consistently: it shows every Append that was acknowledged before. An invalid
	// snapshot pointer (beyond the version, or not a number) is read as 0.
	Head(ctx context.Context, id AggregateID) (Head, error)

	// Entries yields the entries with after < SeqNr <= upTo in order and without gaps, page by page. upTo is a version
	// that a Head has shown: a missing entry is an *InconsistentError.
	Entries(ctx context.Context, id AggregateID, after, upTo uint64) iter.Seq2[Entry, error]

	// EntriesAt yields the entries with these ascending numbers, read consistently; a missing one as Entries does.
	EntriesAt(ctx context.Context, id AggregateID, seqNrs []uint64) iter.Seq2[Entry, error]
}

// Journal reads the events of all aggregates: for projections, rebuilds and repairs.
type Journal interface {
	Reader

	// Heads yields every aggregate of the type with its head, in any order. What names no aggregate is left out.
	// Concurrent writes may or may not show. A head that can't be read is yielded as version 0.
	Heads(ctx context.Context, aggregateType string) iter.Seq2[StoredAggregate, error]

	// JournalParts returns the best number of parts to read concurrently with ReadJournal.
	JournalParts() int

	// ReadJournal yields the entries of a part of the whole journal page by page, after a page's Next or from the
	// beginning (""). All entries of an aggregate are in the same part, in no reliable order.
	ReadJournal(ctx context.Context, part, parts int, after string) iter.Seq2[JournalPage, error]
}

// JournalPage is some entries of the journal, of any aggregates, and the position of the next page.
type JournalPage struct {
	Entries []Queued // their Position is the queue's, or 0
	Next    string   // the store's own notation, ASCII
}

// Store is all that the stores of the library do.
type Store interface {
	EventPersistenceGateway
	Journal
	Spool
	Maintainer

	// Draw takes the next number of the tenant's sequence; a new sequence, of a name of up to 64 bytes, starts with 1.
	// After an error a number may be lost; none is ever drawn again. [Sequence] makes codes of the numbers.
	Draw(ctx context.Context, tenant Tenant, sequence string) (uint64, error)
}

// Head is an aggregate's optimistic lock and snapshot pointer. The zero Head: the aggregate does not exist.
type Head struct {
	Version         uint64 `json:"version"`          // number of the last entry
	SnapshotVersion uint64 `json:"snapshot_version"` // version of the latest complete snapshot; 0: there is none
}

// Check returns an error when the snapshot's version is 0 or beyond the journal.
func (h Head) Check(snapshot Snapshot) error {
	if snapshot.Version == 0 || snapshot.Version > h.Version {
		return fmt.Errorf("the snapshot has version %d, but the journal has version %d", snapshot.Version, h.Version)
	}
	return nil
}

// Verify fails with an *InconsistentError when the journal has the event after the head's version and the stored head
// still shows that version: both are written in one transaction.
func (h Head) Verify(ctx context.Context, journal Reader, id AggregateID) error {
	next := h.Version + 1
	for _, err := range journal.EntriesAt(ctx, id, []uint64{next}) {
		if KindOf(err) == Inconsistent {
			return nil // there is none
		}
		if err == nil {
			var now Head
			if now, err = journal.Head(ctx, id); err == nil && now.Version == h.Version {
				err = &InconsistentError{ID: id, Head: h.Version, Event: next}
			}
		}
		return err
	}
	return nil
}

// Entry is an event in the journal. Payload is the complete event; the fields before it repeat what stores keep in keys
// and columns. Every store returns SeqNr, EventID, OccurredAt (to the millisecond) and Payload; the other fields may be
// empty.
type Entry struct {
	SeqNr         uint64          `json:"seq_nr"`
	EventID       string          `json:"event_id"`
	EventType     string          `json:"-"`
	OccurredAt    time.Time       `json:"occurred_at"`
	UserID        string          `json:"-"`
	CommandID     string          `json:"-"`
	CorrelationID string          `json:"-"`
	Payload       json.RawMessage `json:"payload"`
	Faults        []Fault         `json:"-"` // for [Maintainer]: unreadable fields, which are zero, and wrong ones
}

// clientAddress is a member of a payload. In a text of JSON its quotes would be escaped.
var clientAddress = regexp.MustCompile(`,\s*"client_ip"\s*:\s*"[^"]*"`)

// Public returns the payload without the client's address, which no API shows.
func (e Entry) Public() []byte { return clientAddress.ReplaceAll(e.Payload, nil) }

// Receipt is the answer to a command with an idempotency key. It is written with the command's events.
type Receipt struct {
	CommandID   string
	Fingerprint string // distinguishes a repeat from another request with the same key
	Answer      []byte
	ExpiresAt   time.Time // when the store may delete it
}

// Snapshot is an aggregate's state after entry Version.
type Snapshot struct {
	Version uint64 `json:"version"`
	Payload []byte `json:"-"`
	Broken  string `json:"broken,omitempty"` // why it is unusable, without a payload; empty: it is intact
	// Unlisted, for [Maintainer]: an earlier writer's, which is not in the index. The head need not point to it.
	Unlisted bool `json:"-"`
}

// MaxAppend limits the entries and receipts of an [Append]. A transaction of DynamoDB holds 100 items: these, the head,
// and a look for the first event under up to three other numbers of shards.
const MaxAppend = 96

// Append is one write to one aggregate.
type Append struct {
	ID              AggregateID
	ExpectedVersion uint64 // 0: the aggregate must not exist
	Entries         []Entry
	FirstSnapshot   []byte // the state after entry 1; only with ExpectedVersion 0
	Receipts        []Receipt
	// Heed makes the write fail with ErrConflict when another writer has asked this one to yield since the last write.
	Heed bool
}

// Check reports a write that breaks the contract, whatever is stored. A gateway calls it first.
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

// Queued is an entry among those of all aggregates.
type Queued struct {
	Position uint64 // 1 or more, in the order of the store
	ID       AggregateID
	SeqNr    uint64
	Payload  []byte // JSON, the complete event
}

// periods are the names of a sequence's periods, in UTC, in codes: after a reset, the numbers alone are not unique.
var periods = map[string]string{"": "", "never": "", "year": "2006", "month": "200601", "day": "20060102"}

// Sequence draws codes, which people read, for things of one kind. It is safe for concurrent use.
type Sequence struct {
	Store interface { // a [Store]
		Draw(ctx context.Context, tenant Tenant, sequence string) (uint64, error)
	}
	Kind  string           // such as "ORDER": codes begin with it
	Reset string           // when the numbers start with 1 again: each year, month or day, or never, the default
	Clock func() time.Time // default: time.Now
}

// NextCode draws a code, never one twice: ORDER-000001, 2, 3 ... with gaps, or with a reset ORDER-2026-000001.
func (s Sequence) NextCode(ctx context.Context, tenant Tenant) (string, error) {
	now, name := time.Now, s.Kind
	if s.Clock != nil {
		now = s.Clock
	}
	layout, known := periods[s.Reset]
	if !known {
		return "", fmt.Errorf("the sequence %s can't be reset each %q: each year, month or day, or never", s.Kind, s.Reset)
	}
	if layout != "" { // each period is a sequence of its own
		name += "-" + now().UTC().Format(layout)
	}
	number, err := s.Store.Draw(ctx, tenant, name)
	if err != nil {
		return "", fmt.Errorf("draw the next number of the sequence %s: %w", s.Kind, err)
	}
	return fmt.Sprintf("%s-%06d", name, number), nil
}

// Spool is the part of an event store that stores temporary files, such as uploads and exports. A file consists
// of numbered parts of up to 2 MiB. An expired part counts as missing.
type Spool interface {
	// PutParts stores parts with the numbers from first, replacing those that exist, which still count. It fails with
	// ErrSpoolFull, and stores nothing, if the file's owner or tenant would hold too many bytes, before compression.
	PutParts(ctx context.Context, file File, first uint64, parts ...[]byte) error

	// Part reads a part consistently; false: it is missing.
	Part(ctx context.Context, tenant Tenant, name string, number uint64) ([]byte, bool, error)

	// DeleteFile deletes a file with all its parts. It does not use Owner. A file that does not exist is no error.
	DeleteFile(ctx context.Context, file File) error

	// DeleteExpired deletes the files that have expired, and counts them.
	DeleteExpired(ctx context.Context) (int, error)
}

// File names a temporary file. Expires belongs to the name: it is the same in every call, to the second.
type File struct {
	Tenant      Tenant
	Owner, Name string
	Expires     time.Time
}

// ErrSpoolFull: the owner or the tenant of a file would hold too many bytes.
var ErrSpoolFull = errors.New("the spool is full")

const (
	maxPart     = 2 << 20 // of a part's uncompressed content, in bytes
	maxFileName = 64      // in bytes
)

// Check reports parts that break the contract of [Spool], independent of the stored data.
func (file File) Check(parts [][]byte) error {
	switch {
	case file.Name == "" || len(file.Name) > maxFileName:
		return fmt.Errorf("the name of the file %q must have 1 to %d bytes", file.Name, maxFileName)
	case file.Owner == "":
		return fmt.Errorf("the file %s has no owner", file.Name)
	}
	for _, content := range parts {
		if len(content) > maxPart {
			return fmt.Errorf("a part of the file %s has %d bytes, more than %d: make smaller parts", file.Name, len(content), maxPart)
		}
	}
	return nil
}

// Maintainer reads even damaged data, repairs heads and snapshots, and removes what is stored elsewhere, at any time.
type Maintainer interface {
	// StoredAggregates yields every aggregate with an entry or a head, at least once, in no order.
	StoredAggregates(ctx context.Context) iter.Seq2[StoredAggregate, error]

	// StoredHead reads the aggregate's head consistently, even if it is damaged.
	StoredHead(ctx context.Context, id AggregateID) (StoredHead, error)

	// StoredEntries yields every entry of the aggregate that existed before the call, in no order.
	StoredEntries(ctx context.Context, id AggregateID) iter.Seq2[Entry, error]

	// StoredSnapshots yields every unexpired snapshot of the aggregate, intact or not, in no order.
	StoredSnapshots(ctx context.Context, id AggregateID) iter.Seq2[Snapshot, error]

	// ReplaceHead replaces the result of StoredHead, which may be a missing head, by head. It fails with ErrConflict if
	// another head is stored by now, and succeeds if head is.
	ReplaceHead(ctx context.Context, id AggregateID, found StoredHead, head Head) error

	// DropSnapshot deletes a snapshot or its remains. A missing snapshot is no error.
	DropSnapshot(ctx context.Context, id AggregateID, version uint64) error

	// RemoveEntries deletes the entries with the numbers from first to last, as far as they exist, once they are stored
	// elsewhere (see the package archive). It fails unless last is below the head's version.
	RemoveEntries(ctx context.Context, id AggregateID, first, last uint64) error
}

// Fault is an unreadable part of stored data, or one that contradicts its key.
type Fault struct {
	Field    string `json:"field"`
	Expected string `json:"expected"`
	Found    string `json:"found"`
}

// StoredAggregate is an aggregate with stored data.
type StoredAggregate struct {
	ID     AggregateID
	Head           // from [Journal].Heads
	Faults []Fault // from [Maintainer]: why programs do not look for it there
}

// StoredHead is a head as stored. Unreadable parts are zero, and described in Faults.
type StoredHead struct {
	Head
	Exists bool    `json:"-"`
	Faults []Fault `json:"faults,omitempty"`
}

// Equal reports whether both are the same, including their faults.
func (h StoredHead) Equal(other StoredHead) bool {
	return h.Head == other.Head && h.Exists == other.Exists && slices.Equal(h.Faults, other.Faults)
}

// Usable returns the head for commands, or an *InconsistentError if its version can't be read. An invalid pointer to a
// snapshot is none: that only costs time, and the next snapshot corrects it.
func (h StoredHead) Usable(id AggregateID) (Head, error) {
	for _, fault := range h.Faults {
		if fault.Field == "version" {
			return Head{}, &InconsistentError{ID: id, Cause: fmt.Errorf("the version in its head is %s", fault.Found)}
		}
	}
	if h.SnapshotVersion > h.Version {
		h.SnapshotVersion = 0
	}
	return h.Head, nil
}

// CheckRemoval returns an error unless entries up to last may be removed: the last entry always stays.
func (h StoredHead) CheckRemoval(last uint64) error {
	if last >= h.Version {
		return fmt.Errorf("entry %d can't be removed: the head has version %d, and its entry must stay", last, h.Version)
	}
	return nil
}

// Is reports whether head is stored, without a fault.
func (h StoredHead) Is(head Head) bool { return h.Equal(StoredHead{Head: head, Exists: true}) }
