package query

import (
	"context"
	"errors"
	"fmt"

	"example.com/threads/domain/ident"
	"example.com/threads/domain/thread"
)

// Queries answers all queries of the read model: those of its [Reader], and those that wait or read more than once. It
// is safe for concurrent use.
type Queries struct {
	Reader
	watcher  *Watcher
	settings Settings
	types    []Awaitable
}

// Reader combines the ports of all queries.
type Reader interface {
	ThreadReader
	MemberReader
	MessageReader
	AccountReader
}

// New returns queries on reader. watcher must run for [Queries.Await] and [Queries.ThreadChanges].
func New(reader Reader, watcher *Watcher, settings Settings) *Queries {
	q := &Queries{Reader: reader, watcher: watcher, settings: settings.withDefaults()}
	q.types = q.awaitable()
	return q
}

// ThreadsAfter returns at most limit of the viewer's threads, from the position after the thread after; zero means from
// the beginning. Every event moves its thread to the front, so the current position of that thread counts. For a fixed
// position use Threads.
func (q *Queries) ThreadsAfter(ctx context.Context, viewer Viewer, limit int, after thread.ID) ([]Thread, error) {
	page, err := rangeAfter(limit, after, func() (Position, error) { return q.ThreadPosition(ctx, viewer, after) })
	if err != nil {
		return nil, err
	}
	threads, err := q.Threads(ctx, viewer, page)
	return threads.Items, err
}

// MembersAfter returns at most limit members of a thread that the viewer sees, after the given member; zero means from
// the beginning.
func (q *Queries) MembersAfter(ctx context.Context, viewer Viewer, id thread.ID, limit int, after thread.MemberID) ([]Member, error) {
	if _, err := q.Thread(ctx, viewer, id); err != nil {
		return nil, err
	}
	page, err := rangeAfter(limit, after, func() (Position, error) { return q.MemberPosition(ctx, viewer.key(id), after) })
	if err != nil {
		return nil, err
	}
	pages, err := q.Members(ctx, viewer.Tenant, []thread.ID{id}, page)
	return pages[id].Items, err
}

// MessagesAfter returns at most limit messages of a thread that the viewer sees, after the given message; zero means
// from the beginning.
func (q *Queries) MessagesAfter(ctx context.Context, viewer Viewer, id thread.ID, limit int, after thread.MessageID) ([]Message, error) {
	if _, err := q.Thread(ctx, viewer, id); err != nil {
		return nil, err
	}
	page, err := rangeAfter(limit, after, func() (Position, error) { return q.MessagePosition(ctx, viewer.key(id), after) })
	if err != nil {
		return nil, err
	}
	pages, err := q.Messages(ctx, viewer.Tenant, []thread.ID{id}, page)
	return pages[id].Items, err
}

// rangeAfter returns the range after a row, whose position find returns; after the zero id, that from the beginning.
func rangeAfter[T any](limit int, after ident.Of[T], find func() (Position, error)) (Range, error) {
	if after.IsZero() {
		return Range{Limit: limit}, nil
	}
	position, err := find()
	for _, missing := range []error{thread.ErrThreadNotFound, thread.ErrMemberNotFound, thread.ErrMessageNotFound} {
		if errors.Is(err, missing) {
			return Range{}, &ident.InvalidError{Field: "after", Reason: "must be the id of a row of this list"}
		}
	}
	if err != nil {
		return Range{}, fmt.Errorf("find where the page begins: %w", err)
	}
	return Range{Limit: limit, After: position}, nil
}
