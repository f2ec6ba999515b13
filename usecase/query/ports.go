package query

import (
	"context"

	"example.com/threads/domain/thread"
	"example.com/threads/usecase"
)

// What holds for every port here: it is safe for concurrent use; it costs a number of statements that depends neither
// on the rows that it returns nor on how far into a list they are; an error that is not of the domain is
// [usecase.ErrUnavailable], wrapped, where asking again may help.

// ThreadReader reads threads as a viewer sees them. What the viewer does not see is [thread.ErrThreadNotFound].
type ThreadReader interface {
	Thread(ctx context.Context, viewer Viewer, id thread.ID) (Thread, error)
	Threads(ctx context.Context, viewer Viewer, page Range) (Page[Thread], error)
	// ThreadPosition is where a thread stands in the viewer's list, also when it has been deleted or the viewer has
	// left.
	ThreadPosition(ctx context.Context, viewer Viewer, id thread.ID) (Position, error)
}

// MemberReader reads the members of threads, those who have left not included.
type MemberReader interface {
	// Member is the member of a thread that is not deleted, or [thread.ErrMemberNotFound].
	Member(ctx context.Context, key usecase.Key, user thread.UserID) (Member, error)
	// Members reads the same page of the lists of several threads, for a caller who may see them. A thread without
	// members there has an empty page.
	Members(ctx context.Context, tenant usecase.Tenant, threads []thread.ID, page Range) (map[thread.ID]Page[Member], error)
	// MemberPosition is where a member stands in the list of the thread, also when they have left, or
	// [thread.ErrMemberNotFound].
	MemberPosition(ctx context.Context, key usecase.Key, id thread.MemberID) (Position, error)
}

// MessageReader reads the messages of threads, deleted ones not included.
type MessageReader interface {
	// Message is a message of a thread that the viewer sees, or [thread.ErrMessageNotFound].
	Message(ctx context.Context, viewer Viewer, id thread.MessageID) (Message, error)
	// Messages reads the same page of the lists of several threads, for a caller who may see them. A thread without
	// messages there has an empty page.
	Messages(ctx context.Context, tenant usecase.Tenant, threads []thread.ID, page Range) (map[thread.ID]Page[Message], error)
	// MessagePosition is where a message stands in the list of the thread, also when it has been deleted, or
	// [thread.ErrMessageNotFound].
	MessagePosition(ctx context.Context, key usecase.Key, id thread.MessageID) (Position, error)
}

// VersionReader tells how far aggregates are in the read model.
type VersionReader interface {
	// Versions is the version of each of the aggregates that the read model has ever had. Everything up to that version
	// can be read when the call returns.
	Versions(ctx context.Context, keys []usecase.Key) (map[usecase.Key]uint64, error)
}
