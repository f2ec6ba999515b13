package query

import (
	"context"

	"example.com/threads/domain/thread"
	"example.com/threads/es"
)

// All ports are safe for concurrent use. The number of SQL statements per call depends neither on the number of
// returned rows nor on their position in the list. Errors are those of the domain, or [es.ErrUnavailable],
// wrapped, if a retry may succeed, or faults.

// ThreadReader reads threads as a viewer sees them. For a thread that the viewer does not see it returns
// [thread.ErrThreadNotFound].
type ThreadReader interface {
	Thread(ctx context.Context, viewer Viewer, id thread.ID) (Thread, error)
	ThreadByCode(ctx context.Context, viewer Viewer, code thread.Code) (Thread, error)
	Threads(ctx context.Context, viewer Viewer, page Range) (Page[Thread], error)
	// ThreadPosition returns the thread's position in the viewer's list, also when the thread is deleted or the viewer
	// has left it.
	ThreadPosition(ctx context.Context, viewer Viewer, id thread.ID) (Position, error)
}

// MemberReader reads the current members of threads.
type MemberReader interface {
	// Member returns the member of a thread that is not deleted, or [thread.ErrMemberNotFound].
	Member(ctx context.Context, key es.AggregateID, user thread.UserID) (Member, error)
	// Members reads the same page of the member lists of several threads, which the caller must be allowed to see. A
	// thread without such members has an empty page.
	Members(ctx context.Context, tenant es.Tenant, threads []thread.ID, page Range) (map[thread.ID]Page[Member], error)
	// MemberPosition returns a member's position in the thread's list, also after the member has left, or
	// [thread.ErrMemberNotFound].
	MemberPosition(ctx context.Context, key es.AggregateID, id thread.MemberID) (Position, error)
}

// MessageReader reads the messages of threads, except deleted ones.
type MessageReader interface {
	// Message returns a message of a thread that the viewer sees, or [thread.ErrMessageNotFound].
	Message(ctx context.Context, viewer Viewer, id thread.MessageID) (Message, error)
	// Messages reads the same page of the message lists of several threads, which the caller must be allowed to see. A
	// thread without such messages has an empty page.
	Messages(ctx context.Context, tenant es.Tenant, threads []thread.ID, page Range) (map[thread.ID]Page[Message], error)
	// MessagePosition returns a message's position in the thread's list, also after it was deleted, or
	// [thread.ErrMessageNotFound].
	MessagePosition(ctx context.Context, key es.AggregateID, id thread.MessageID) (Position, error)
}

// VersionReader reads the versions of aggregates in the read model.
type VersionReader interface {
	// Versions returns the version of each aggregate that the read model knows. Everything up to that version can be
	// read when the call returns.
	Versions(ctx context.Context, keys []es.AggregateID) (map[es.AggregateID]uint64, error)
}
