// Package query answers questions about the read model: threads, their members and messages, as one viewer sees them.
// The GraphQL adapter calls [Queries], and interfaceadaptor/readmodel/queryreader implements [Reader] with SQL.
//
// The read model follows the journal with a delay. A [Watcher] lets a query wait for the version in its client's token,
// and a subscription for the next version.
package query

import (
	"cmp"
	"context"
	"iter"
	"time"

	"example.com/threads/domain/account"
	"example.com/threads/domain/thread"
	"example.com/threads/es"
)

// Reader reads the read model. It is safe for concurrent use. The number of SQL statements per call depends neither on
// the number of returned rows nor on their position in the list. Errors are those of the domain, or faults, or
// [es.ErrUnavailable], wrapped, if a retry may succeed. An AfterID that is not in the list is an [ident.InvalidError].
type Reader interface {
	// Thread returns a thread, or [thread.ErrThreadNotFound] if the viewer does not see it.
	Thread(ctx context.Context, viewer Viewer, id thread.ID) (Thread, error)
	// ThreadByCode is Thread by code.
	ThreadByCode(ctx context.Context, viewer Viewer, code thread.Code) (Thread, error)
	// Threads returns a page of the viewer's threads.
	Threads(ctx context.Context, viewer Viewer, page Range) (Page[Thread], error)
	// WasMember returns [thread.ErrThreadNotFound] unless the viewer is or was a member of the thread, which may be
	// deleted.
	WasMember(ctx context.Context, viewer Viewer, id thread.ID) error

	// Member returns the member of a thread that is not deleted, or [thread.ErrMemberNotFound].
	Member(ctx context.Context, key es.AggregateID, user thread.UserID) (Member, error)
	// Members reads the same page of the member lists of several threads, which the caller must be allowed to see. A
	// thread without such members has an empty page.
	Members(ctx context.Context, tenant es.Tenant, threads []thread.ID, page Range) (map[thread.ID]Page[Member], error)

	// Message returns a message of a thread that the viewer sees, or [thread.ErrMessageNotFound].
	Message(ctx context.Context, viewer Viewer, id thread.MessageID) (Message, error)
	// Messages is Members for messages, without deleted ones.
	Messages(ctx context.Context, tenant es.Tenant, threads []thread.ID, page Range) (map[thread.ID]Page[Message], error)

	// Accounts returns the existing accounts among these, including closed ones.
	Accounts(ctx context.Context, tenant es.Tenant, ids []account.ID) (map[account.ID]Account, error)
}

// Queries answers all queries of the read model: those of its [Reader], and those that wait or read more than once. It
// is safe for concurrent use.
type Queries struct {
	Reader
	watcher  *Watcher
	settings Settings
	types    []Awaitable
}

// Settings of [Queries].
type Settings struct {
	// WaitTimeout limits how long a query waits for the versions of its tokens; default 2 s.
	WaitTimeout time.Duration
	// Waited is called after each wait for tokens, for metrics; it may be nil.
	Waited func(took time.Duration, err error)
}

// New returns queries on reader. watcher must run for [Queries.Await] and [Queries.ThreadChanges].
func New(reader Reader, watcher *Watcher, settings Settings) *Queries {
	settings.WaitTimeout = cmp.Or(settings.WaitTimeout, 2*time.Second)
	q := &Queries{Reader: reader, watcher: watcher, settings: settings}
	q.types = q.awaitable()
	return q
}

// MembersOf returns a page of the members of a thread that the viewer sees.
func (q *Queries) MembersOf(ctx context.Context, viewer Viewer, id thread.ID, page Range) ([]Member, error) {
	if _, err := q.Thread(ctx, viewer, id); err != nil {
		return nil, err
	}
	pages, err := q.Members(ctx, viewer.Tenant, []thread.ID{id}, page)
	return pages[id].Items, err
}

// MessagesOf returns a page of the messages of a thread that the viewer sees.
func (q *Queries) MessagesOf(ctx context.Context, viewer Viewer, id thread.ID, page Range) ([]Message, error) {
	if _, err := q.Thread(ctx, viewer, id); err != nil {
		return nil, err
	}
	pages, err := q.Messages(ctx, viewer.Tenant, []thread.ID{id}, page)
	return pages[id].Items, err
}

// Account returns the account, or [account.ErrAccountNotFound].
func (q *Queries) Account(ctx context.Context, tenant es.Tenant, id account.ID) (Account, error) {
	found, err := q.Accounts(ctx, tenant, []account.ID{id})
	if err != nil {
		return Account{}, err
	}
	row, exists := found[id]
	if !exists {
		return row, account.ErrAccountNotFound
	}
	return row, nil
}

// ThreadChanges yields the thread as the viewer sees it: its current state, then a state after each change. When
// changes arrive faster than they are read, intermediate states are skipped, never the latest. The sequence ends with
// the first error ([thread.ErrThreadNotFound] when the thread is deleted or the viewer is no longer a member), and
// without an error when ctx ends.
func (q *Queries) ThreadChanges(ctx context.Context, viewer Viewer, id thread.ID) iter.Seq2[Thread, error] {
	return Changes(ctx, q, viewer.key(id), func(ctx context.Context) (Thread, uint64, error) {
		found, err := q.Thread(ctx, viewer, id)
		return found, found.Version, err
	})
}

const readTimeout = 5 * time.Second // for one read of a subscription

// Changes yields what read returns, then again after each change of the aggregate, until the first error or ctx's end.
func Changes[T any](ctx context.Context, q *Queries, key es.AggregateID, read func(context.Context) (T, uint64, error)) iter.Seq2[T, error] {
	within := func() (T, uint64, error) {
		ctx, cancel := context.WithTimeout(ctx, readTimeout)
		defer cancel()
		return read(ctx)
	}
	return func(yield func(T, error) bool) {
		for {
			seen, version, err := within()
			if ctx.Err() != nil || !yield(seen, err) || err != nil {
				return
			}
			if q.watcher.AwaitChange(ctx, key, version) != nil {
				return
			}
		}
	}
}
