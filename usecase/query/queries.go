package query

import (
	"context"
	"errors"
	"fmt"

	"example.com/threads/domain/ident"
	"example.com/threads/domain/thread"
	"example.com/threads/usecase"
)

// Queries answers all queries of the read model. It is safe for concurrent use.
type Queries struct {
	reader   Reader
	watcher  *Watcher
	settings Settings
}

// Reader combines the ports of all queries.
type Reader interface {
	ThreadReader
	MemberReader
	MessageReader
	AccountReader
	TenantReader
	TaskReader
}

// New returns queries on reader. watcher must run for [Queries.Await] and [Queries.ThreadChanges].
func New(reader Reader, watcher *Watcher, settings Settings) *Queries {
	return &Queries{reader: reader, watcher: watcher, settings: settings.withDefaults()}
}

// Thread returns a thread, or [thread.ErrThreadNotFound].
func (q *Queries) Thread(ctx context.Context, viewer Viewer, id thread.ID) (Thread, error) {
	return q.reader.Thread(ctx, viewer, id)
}

// ThreadByCode returns the thread with the code, or [thread.ErrThreadNotFound].
func (q *Queries) ThreadByCode(ctx context.Context, viewer Viewer, code thread.Code) (Thread, error) {
	return q.reader.ThreadByCode(ctx, viewer, code)
}

// Threads returns a page of the viewer's threads, latest change first.
func (q *Queries) Threads(ctx context.Context, viewer Viewer, page Range) (Page[Thread], error) {
	return q.reader.Threads(ctx, viewer, page)
}

// ThreadsAfter returns at most limit of the viewer's threads, from the position after the thread after; zero means from
// the beginning. Every event moves its thread to the front, so the current position of that thread counts. For a fixed
// position use [Queries.Threads].
func (q *Queries) ThreadsAfter(ctx context.Context, viewer Viewer, limit int, after thread.ID) ([]Thread, error) {
	page := Range{Limit: limit}
	if !after.IsZero() {
		position, err := q.reader.ThreadPosition(ctx, viewer, after)
		if err != nil {
			return nil, unknownAfter(err)
		}
		page.After = position
	}
	threads, err := q.reader.Threads(ctx, viewer, page)
	return threads.Items, err
}

// Member returns a user account's membership in a thread, or [thread.ErrMemberNotFound].
func (q *Queries) Member(ctx context.Context, key usecase.Key, user thread.UserID) (Member, error) {
	return q.reader.Member(ctx, key, user)
}

// MembersOf returns the same page of the members of each thread. The caller must have got the threads from these
// queries.
func (q *Queries) MembersOf(ctx context.Context, tenant usecase.Tenant, threads []thread.ID, page Range) (map[thread.ID]Page[Member], error) {
	return q.reader.Members(ctx, tenant, threads, page)
}

// MembersAfter returns at most limit members of a thread that the viewer sees, after the given member; zero means from
// the beginning.
func (q *Queries) MembersAfter(ctx context.Context, viewer Viewer, id thread.ID, limit int, after thread.MemberID) ([]Member, error) {
	if _, err := q.reader.Thread(ctx, viewer, id); err != nil {
		return nil, err
	}
	page := Range{Limit: limit}
	if !after.IsZero() {
		position, err := q.reader.MemberPosition(ctx, viewer.key(id), after)
		if err != nil {
			return nil, unknownAfter(err)
		}
		page.After = position
	}
	pages, err := q.reader.Members(ctx, viewer.Tenant, []thread.ID{id}, page)
	return pages[id].Items, err
}

// Message returns a message, or [thread.ErrMessageNotFound].
func (q *Queries) Message(ctx context.Context, viewer Viewer, id thread.MessageID) (Message, error) {
	return q.reader.Message(ctx, viewer, id)
}

// MessagesOf returns the same page of the messages of each thread. The caller must have got the threads from these
// queries.
func (q *Queries) MessagesOf(ctx context.Context, tenant usecase.Tenant, threads []thread.ID, page Range) (map[thread.ID]Page[Message], error) {
	return q.reader.Messages(ctx, tenant, threads, page)
}

// MessagesAfter returns at most limit messages of a thread that the viewer sees, after the given message; zero means
// from the beginning.
func (q *Queries) MessagesAfter(ctx context.Context, viewer Viewer, id thread.ID, limit int, after thread.MessageID) ([]Message, error) {
	if _, err := q.reader.Thread(ctx, viewer, id); err != nil {
		return nil, err
	}
	page := Range{Limit: limit}
	if !after.IsZero() {
		position, err := q.reader.MessagePosition(ctx, viewer.key(id), after)
		if err != nil {
			return nil, unknownAfter(err)
		}
		page.After = position
	}
	pages, err := q.reader.Messages(ctx, viewer.Tenant, []thread.ID{id}, page)
	return pages[id].Items, err
}

// unknownAfter converts the error for an "after" row that was never in the list.
func unknownAfter(err error) error {
	for _, missing := range []error{thread.ErrThreadNotFound, thread.ErrMemberNotFound, thread.ErrMessageNotFound} {
		if errors.Is(err, missing) {
			return &ident.InvalidError{Field: "after", Reason: "must be the id of a row of this list"}
		}
	}
	return fmt.Errorf("find where the page begins: %w", err)
}
