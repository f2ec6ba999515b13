package query

import (
	"context"
	"fmt"
	"iter"

	"golang.org/x/sync/semaphore"

	"example.com/threads/domain/ident"
	"example.com/threads/domain/thread"
	"example.com/threads/usecase"
	"example.com/threads/usecase/command"
	"example.com/threads/usecase/erasure"
)

// History answers queries about threads' events from the journal only, so it is complete while the read model is behind
// or a thread is parked. It is for a thread's Admins, because it shows what was edited and deleted. The Admins are read
// from the journal, too; for a deleted thread, from the state before the deletion. Other members get
// [thread.ErrNotAdmin], all others [thread.ErrThreadNotFound]. It is safe for concurrent use.
type History struct {
	open   func(context.Context) (ThreadJournal, error)
	keys   *erasure.Keyring
	states *semaphore.Weighted // limits the states in memory
}

// ThreadJournal reads threads from the journal. Its errors are [usecase.ErrUnavailable], wrapped, if a retry may
// succeed, or faults.
type ThreadJournal interface {
	// Latest returns the thread's version and its latest state; the zero State if there is no such thread. If an event
	// cannot be read, the state is the one before it.
	Latest(ctx context.Context, key usecase.Key) (state command.State[thread.Thread], version uint64, err error)
	// At returns the state at a version up to Latest's.
	At(ctx context.Context, key usecase.Key, version uint64) (command.State[thread.Thread], error)
	// Describe yields the events with after < SeqNr <= upTo in order. upTo is at most Latest's version.
	Describe(ctx context.Context, key usecase.Key, after, upTo uint64) iter.Seq2[usecase.Described, error]
	// EventsAt yields the events with these ascending numbers.
	EventsAt(ctx context.Context, key usecase.Key, seqNrs []uint64) iter.Seq2[usecase.Recorded[thread.Event], error]
}

// statesAtOnce limits the states that are read concurrently. A state of 100,000 messages takes some ten megabytes.
const statesAtOnce = 2

// NewHistory returns the history. open returns the journal, or why it is unavailable; it is called for every query.
// keys open sealed texts; nil: erasure is off.
func NewHistory(open func(context.Context) (ThreadJournal, error), keys *erasure.Keyring) *History {
	return &History{open: open, keys: keys, states: semaphore.NewWeighted(statesAtOnce)}
}

// HistoryEntry is an event of a thread.
type HistoryEntry struct{ usecase.Described }

// Position returns the entry's position in the history; it never changes.
func (e HistoryEntry) Position() Position { return Position{At: int64(e.SeqNr), ID: e.EventID} }

// Entries returns a page of the thread's events, in order.
func (h *History) Entries(ctx context.Context, viewer Viewer, id thread.ID, page Range) (Page[HistoryEntry], error) {
	found := Page[HistoryEntry]{}
	seen, err := h.look(ctx, viewer, id)
	if err != nil {
		return found, err
	}
	after, upTo := page.numbers(seen.version)
	found.HasPrevious, found.HasNext = after > 0, upTo < int64(seen.version)
	if after >= upTo {
		return found, nil
	}
	for described, err := range seen.journal.Describe(ctx, seen.key, uint64(after), uint64(upTo)) {
		if err != nil {
			return found, err
		}
		if described.Data, err = h.keys.OpenJSON(ctx, viewer.Tenant, described.Data); err != nil {
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
	key     usecase.Key
	version uint64
	latest  command.State[thread.Thread] // the latest readable state
	alive   command.State[thread.Thread] // the latest state before a deletion
}

func (h *History) look(ctx context.Context, viewer Viewer, id thread.ID) (sight, error) {
	journal, err := h.open(ctx)
	if err != nil {
		return sight{}, err
	}
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
	name, err := h.keys.OpenOne(ctx, viewer.Tenant, state.Value.Name().String())
	return ThreadState{
		Version: state.Version, Name: name, Deleted: state.Value.Deleted(),
		state: state.Value, journal: seen.journal, keys: h.keys, key: seen.key,
	}, err
}

func (h *History) stateAt(ctx context.Context, seen sight, version uint64) (command.State[thread.Thread], error) {
	for _, known := range []command.State[thread.Thread]{seen.latest, seen.alive} {
		if known.Version == version {
			return known, nil
		}
	}
	if err := h.states.Acquire(ctx, 1); err != nil {
		return command.State[thread.Thread]{}, err
	}
	defer h.states.Release(1)
	return seen.journal.At(ctx, seen.key, version)
}
