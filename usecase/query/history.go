package query

import (
	"context"
	"fmt"
	"iter"

	"golang.org/x/sync/semaphore"

	"example.com/threads/domain/account"
	"example.com/threads/domain/ident"
	"example.com/threads/domain/thread"
	"example.com/threads/es"
)

// History answers queries about the events of threads and accounts from the journal only, so it is complete while the
// read model is behind or an aggregate is parked. It is safe for concurrent use.
//
// A thread's history is for its Admins, because it shows what was edited and deleted. The Admins are read from the
// journal, too; for a deleted thread, from the state before the deletion. Other members get [thread.ErrNotAdmin], all
// others [thread.ErrThreadNotFound].
type History struct {
	open   func(context.Context) (Journals, error)
	states *semaphore.Weighted // limits the states in memory
}

// Journals are the journals of the aggregates with a history.
type Journals struct {
	Threads  ThreadJournal
	Accounts AccountJournal
}

// AccountJournal reads accounts from the journal. Latest and Describe are those of [ThreadJournal].
type AccountJournal interface {
	Latest(ctx context.Context, key es.AggregateID) (state es.State[account.Account], version uint64, err error)
	describer
}

type describer interface {
	// Describe yields the events with after < SeqNr <= upTo in order. upTo is at most Latest's version.
	Describe(ctx context.Context, key es.AggregateID, after, upTo uint64) iter.Seq2[es.Described, error]
}

// ThreadJournal reads threads from the journal. Its errors are [es.ErrUnavailable], wrapped, if a retry may
// succeed, or faults.
type ThreadJournal interface {
	// Latest returns the thread's version and its latest state; the zero State if there is no such thread. If an event
	// cannot be read, the state is the one before it.
	Latest(ctx context.Context, key es.AggregateID) (state es.State[thread.Thread], version uint64, err error)
	// At returns the state at a version up to Latest's.
	At(ctx context.Context, key es.AggregateID, version uint64) (es.State[thread.Thread], error)
	describer
	// EventsAt yields the events with these ascending numbers.
	EventsAt(ctx context.Context, key es.AggregateID, seqNrs []uint64) iter.Seq2[es.Recorded[thread.Event], error]
}

// statesAtOnce limits the states that are read concurrently. A state of 100,000 messages takes some ten megabytes.
const statesAtOnce = 2

// NewHistory returns the history. open returns the journals, or why they are unavailable; it is called for every query.
func NewHistory(open func(context.Context) (Journals, error)) *History {
	return &History{open: open, states: semaphore.NewWeighted(statesAtOnce)}
}

// HistoryEntry is an event of a thread or of an account.
type HistoryEntry struct{ es.Described }

// Position returns the entry's position in the history; it never changes.
func (e HistoryEntry) Position() Position { return Position{At: int64(e.SeqNr), ID: e.EventID} }

// Entries returns a page of the thread's events, in order.
func (h *History) Entries(ctx context.Context, viewer Viewer, id thread.ID, page Range) (Page[HistoryEntry], error) {
	seen, err := h.look(ctx, viewer, id)
	if err != nil {
		return Page[HistoryEntry]{}, err
	}
	return h.entries(ctx, seen.journal, seen.key, seen.version, page)
}

// AccountEntries returns a page of the account's events, in order. The caller checks who may see them. The error is
// [account.ErrAccountNotFound] if there is no account.
func (h *History) AccountEntries(ctx context.Context, tenant es.Tenant, id account.ID, page Range) (Page[HistoryEntry], error) {
	journals, err := h.open(ctx)
	if err != nil {
		return Page[HistoryEntry]{}, err
	}
	key := es.AggregateID{Tenant: tenant, Type: account.AggregateType, ID: id.String()}
	_, version, err := journals.Accounts.Latest(ctx, key)
	if err == nil && version == 0 {
		err = account.ErrAccountNotFound
	}
	if err != nil {
		return Page[HistoryEntry]{}, err
	}
	return h.entries(ctx, journals.Accounts, key, version, page)
}

func (h *History) entries(ctx context.Context, journal describer, key es.AggregateID, version uint64, page Range) (found Page[HistoryEntry], err error) {
	after, upTo := page.numbers(version)
	found.HasPrevious, found.HasNext = after > 0, upTo < int64(version)
	if after >= upTo {
		return found, nil
	}
	for described, err := range journal.Describe(ctx, key, uint64(after), uint64(upTo)) {
		if err != nil {
			return found, err
		}
		found.Items = append(found.Items, HistoryEntry{described})
	}
	return found, nil
}

// numbers returns the part of a list of the numbers 1 to last that the range requests: after < number <= upTo.
func (r Range) numbers(last uint64) (after, upTo int64) {
	after, upTo = min(r.After.At, int64(last)), int64(last)
	if !r.Before.IsZero() {
		upTo = min(r.Before.At-1, upTo)
	}
	if r.Backward {
		return max(after, upTo-int64(r.Limit)), upTo
	}
	return after, min(upTo, after+int64(r.Limit))
}

// sight is a thread whose history the viewer may see.
type sight struct {
	journal ThreadJournal
	key     es.AggregateID
	version uint64
	latest  es.State[thread.Thread] // the latest readable state
	alive   es.State[thread.Thread] // the latest state before a deletion
}

func (h *History) look(ctx context.Context, viewer Viewer, id thread.ID) (sight, error) {
	journals, err := h.open(ctx)
	if err != nil {
		return sight{}, err
	}
	journal := journals.Threads
	if err := h.states.Acquire(ctx, 1); err != nil {
		return sight{}, err
	}
	defer h.states.Release(1)
	s := sight{journal: journal, key: viewer.key(id)}
	if s.latest, s.version, err = journal.Latest(ctx, s.key); err != nil {
		return s, err
	}
	s.alive = s.latest
	if s.latest.Value.Deleted() {
		if s.alive, err = journal.At(ctx, s.key, s.latest.Version-1); err != nil {
			return s, err
		}
	}
	return s, s.alive.Value.MaySeeHistory(viewer.User)
}

// At returns the thread's state after the event with this number.
func (h *History) At(ctx context.Context, viewer Viewer, id thread.ID, version int) (ThreadState, error) {
	seen, err := h.look(ctx, viewer, id)
	if err != nil {
		return ThreadState{}, err
	}
	if version < 1 || uint64(version) > seen.version {
		return ThreadState{}, &ident.InvalidError{Field: "version", Reason: fmt.Sprintf("must be 1 to %d, which is the thread's latest", seen.version)}
	}
	state, err := h.stateAt(ctx, seen, uint64(version))
	if err != nil {
		return ThreadState{}, err
	}
	return ThreadState{
		Version: state.Version, Name: state.Value.Name().String(), Deleted: state.Value.Deleted(),
		state: state.Value, journal: seen.journal, key: seen.key,
	}, nil
}

func (h *History) stateAt(ctx context.Context, seen sight, version uint64) (es.State[thread.Thread], error) {
	for _, known := range []es.State[thread.Thread]{seen.latest, seen.alive} {
		if known.Version == version {
			return known, nil
		}
	}
	if err := h.states.Acquire(ctx, 1); err != nil {
		return es.State[thread.Thread]{}, err
	}
	defer h.states.Release(1)
	return seen.journal.At(ctx, seen.key, version)
}
