package history

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"

	"example.com/threads/domain/account"
	"example.com/threads/domain/ident"
	"example.com/threads/domain/thread"
	"example.com/threads/es"
	"example.com/threads/es/memlimit"
	"example.com/threads/interfaceadaptor/eventjson"
	"example.com/threads/interfaceadaptor/graphql"
	"example.com/threads/usecase/chat"
	"example.com/threads/usecase/query"
)

// History answers queries about the events of threads and accounts from the journal only, so it is complete while the
// read model is behind or an aggregate is parked. It is safe for concurrent use.
//
// A thread's history is for its Admins, because it shows what was edited and deleted. The Admins are read from the
// journal, too; for a deleted thread, from the state before the deletion. Other members get [thread.ErrNotAdmin], all
// others [thread.ErrThreadNotFound].
type History struct {
	open   Store
	log    *slog.Logger
	states *semaphore.Weighted // limits the states in memory

	once     sync.Once // guards what follows
	threads  *eventjson.ThreadRepository
	accounts *es.Repository[account.Account, account.Event]
}

// statesAtOnce limits the states that are read concurrently. A state of 100,000 messages takes some ten megabytes.
const statesAtOnce = 2

// New returns the history in the event store, for which it asks with every query.
func New(open Store, log *slog.Logger) *History {
	return &History{open: open, log: log, states: semaphore.NewWeighted(statesAtOnce)}
}

// ready makes the repositories, or returns why they are unavailable.
func (h *History) ready(ctx context.Context) error {
	store, err := h.open(ctx)
	if err != nil {
		return fmt.Errorf("%w: open the event store: %w", es.ErrUnavailable, err)
	}
	h.once.Do(func() {
		h.threads = es.NewRepository(eventjson.Threads(), store.Gateway, es.Settings{CacheBytes: memlimit.Limit() / 10, Logger: h.log})
		h.accounts = es.NewRepository(eventjson.Accounts(), store.Gateway, es.Settings{CacheBytes: 1 << 20, Logger: h.log})
	})
	return nil
}

// Entry is an event of a thread or of an account.
type Entry struct{ es.Described }

// Position returns the entry's position in the history; it never changes.
func (e Entry) Position() query.Position { return query.Position{At: int64(e.SeqNr), ID: e.EventID} }

// Entries returns a page of the thread's events, in order.
func (h *History) Entries(ctx context.Context, viewer query.Viewer, id thread.ID, page query.Range) (query.Page[Entry], error) {
	key, version, err := h.look(ctx, viewer, id)
	if err != nil {
		return query.Page[Entry]{}, err
	}
	return entries(ctx, h.threads.Describe, key, version, page)
}

// AccountEntries returns a page of the account's events, or [account.ErrAccountNotFound]. The caller checks who asks.
func (h *History) AccountEntries(ctx context.Context, tenant es.Tenant, id account.ID, page query.Range) (query.Page[Entry], error) {
	if err := h.ready(ctx); err != nil {
		return query.Page[Entry]{}, err
	}
	key := es.AggregateID{Tenant: tenant, Type: account.AggregateType, ID: id.String()}
	_, version, err := h.accounts.Latest(ctx, key)
	if err != nil || version == 0 {
		return query.Page[Entry]{}, cmp.Or[error](err, account.ErrAccountNotFound)
	}
	return entries(ctx, h.accounts.Describe, key, version, page)
}

// describe yields the events after a number, up to another one, of an aggregate.
type describe = func(ctx context.Context, key es.AggregateID, after, upTo uint64) iter.Seq2[es.Described, error]

// entries reads a page of the events 1 to last. A position's At is the number of its event.
func entries(ctx context.Context, read describe, key es.AggregateID, last uint64, page query.Range) (found query.Page[Entry], err error) {
	after, upTo := min(page.After.At, int64(last)), int64(last)
	if !page.Before.IsZero() {
		upTo = min(page.Before.At-1, upTo)
	}
	if page.Backward {
		after = max(after, upTo-int64(page.Limit))
	} else {
		upTo = min(upTo, after+int64(page.Limit))
	}
	found.HasPrevious, found.HasNext = after > 0, upTo < int64(last)
	if after >= upTo {
		return found, nil
	}
	for described, err := range read(ctx, key, uint64(after), uint64(upTo)) {
		if err != nil {
			return found, err
		}
		found.Items = append(found.Items, Entry{described})
	}
	return found, nil
}

// look returns a thread whose history the viewer may see, and its version.
func (h *History) look(ctx context.Context, viewer query.Viewer, id thread.ID) (key es.AggregateID, version uint64, err error) {
	if err = h.ready(ctx); err == nil {
		err = h.states.Acquire(ctx, 1)
	}
	if err != nil {
		return key, 0, err
	}
	defer h.states.Release(1)
	key = chat.ThreadKey(viewer.Tenant, id)
	state, version, err := h.threads.Latest(ctx, key)
	version = min(version, state.Version+1) // nobody knows who is an Admin behind an event that can't be read
	if err == nil && state.Value.Deleted() {
		state, err = h.threads.At(ctx, key, state.Version-1)
	}
	if err == nil {
		err = state.Value.CheckAdmin(viewer.User)
	}
	if errors.Is(err, thread.ErrNotMember) {
		err = thread.ErrThreadNotFound
	}
	return key, version, err
}

// At returns the thread's state after the event with this number.
func (h *History) At(ctx context.Context, viewer query.Viewer, id thread.ID, version int) (ThreadState, error) {
	key, latest, err := h.look(ctx, viewer, id)
	if err == nil && (version < 1 || uint64(version) > latest) {
		err = &ident.InvalidError{Field: "version", Reason: fmt.Sprintf("must be 1 to %d, which is the thread's latest", latest)}
	}
	if err == nil {
		err = h.states.Acquire(ctx, 1)
	}
	if err != nil {
		return ThreadState{}, err
	}
	defer h.states.Release(1)
	state, err := h.threads.At(ctx, key, uint64(version))
	postings := sync.OnceValue(func() []thread.Posting {
		digests := state.Value.Memento().Messages
		slices.SortFunc(digests, func(a, b thread.Posting) int { return cmp.Compare(a.Posted, b.Posted) })
		return digests
	})
	return ThreadState{state.Version, state.Value.Name().String(), state.Value.Deleted(), state.Value, postings, h, key}, err
}

// ThreadState is the schema's ThreadState: a thread's state at a version. A deleted thread has neither members nor
// messages; the version before has them.
//
// The state contains the members and messages with the numbers of their events. Times and texts are read from these
// events, because a state with the texts of 100,000 messages would be too large.
type ThreadState struct {
	Version uint64
	Name    string
	Deleted bool

	state    thread.Thread
	postings func() []thread.Posting // in order, made once: a query may ask for many pages of them
	history  *History
	key      es.AggregateID
}

type StateMember struct {
	query.Member
	UserAccountID string
}

func (s ThreadState) Members(ctx context.Context) ([]StateMember, error) {
	var seqNrs []uint64
	participants := s.state.Participants()
	for _, p := range participants {
		seqNrs = append(seqNrs, p.Joined)
	}
	joined := map[uint64]time.Time{}
	for some := range slices.Chunk(seqNrs, query.MaxPage) { // others read between them
		events, err := s.events(ctx, some)
		if err != nil {
			return nil, err
		}
		for seqNr, event := range events {
			joined[seqNr] = event.OccurredAt
		}
	}
	members := make([]StateMember, len(participants))
	for i, p := range participants {
		members[i] = StateMember{query.Member{User: p.User, Role: p.Role, CreatedAt: joined[p.Joined]}, p.User.String()}
	}
	return members, nil
}

type StateMessage struct {
	query.Message
	ID, UserAccountID string
}

// Messages resolves ThreadState.messages, without those who changed them.
func (s ThreadState) Messages(ctx context.Context, first *int, after *string, last *int) ([]StateMessage, error) {
	if last != nil {
		first, after = last, nil
	}
	page, err := graphql.AfterID[thread.Message](first, after, graphql.DefaultPage)
	if err != nil {
		return nil, err
	}
	previous, _ := ident.Parse[thread.Message](page.AfterID) // zero: none
	digests := s.postings()
	begin := 1 + slices.IndexFunc(digests, func(m thread.Posting) bool { return m.ID == previous })
	if begin == 0 && !previous.IsZero() {
		return nil, &ident.InvalidError{Field: "after", Reason: "must be the id of a message that the thread had at this version"}
	}
	if last != nil {
		begin = max(begin, len(digests)-page.Limit)
	}
	digests = digests[begin:min(begin+page.Limit, len(digests))]
	var seqNrs []uint64
	for _, digest := range digests {
		seqNrs = append(seqNrs, digest.Posted, max(digest.Posted, digest.Edited))
	}
	events, err := s.events(ctx, seqNrs)
	if err != nil {
		return nil, err
	}
	messages := make([]StateMessage, len(digests))
	for i, digest := range digests {
		changed := events[max(digest.Posted, digest.Edited)]
		posted, _ := changed.Event.(thread.MessagePosted)
		edited, _ := changed.Event.(thread.MessageEdited)
		said := cmp.Or(posted.Message, edited.Message)
		if said.ID != digest.ID {
			return nil, fmt.Errorf("event %d of %s: it has no text of message %s", changed.SeqNr, s.key, digest.ID)
		}
		messages[i] = StateMessage{query.Message{
			ID: digest.ID, Sender: digest.Sender, Text: said.Text.String(), CreatedAt: events[digest.Posted].OccurredAt, UpdatedAt: changed.OccurredAt,
		}, digest.ID.String(), digest.Sender.String()}
	}
	return messages, nil
}

// events reads the events with these numbers, which may be in any order.
func (s ThreadState) events(ctx context.Context, seqNrs []uint64) (map[uint64]es.Recorded[thread.Event], error) {
	if err := s.history.states.Acquire(ctx, 1); err != nil { // they may be as large as a state
		return nil, err
	}
	defer s.history.states.Release(1)
	slices.Sort(seqNrs)
	events := map[uint64]es.Recorded[thread.Event]{}
	for recorded, err := range s.history.threads.EventsAt(ctx, s.key, slices.Compact(seqNrs)) {
		if err != nil {
			return nil, err
		}
		events[recorded.SeqNr] = recorded
	}
	return events, nil
}
