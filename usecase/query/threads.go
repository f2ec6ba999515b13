package query

import (
	"context"
	"iter"
	"time"

	"example.com/threads/domain/thread"
	"example.com/threads/es"
)

// ThreadReader reads threads, members and messages. A viewer sees the threads that it is a member of.
type ThreadReader interface {
	// Thread returns a thread, or [thread.ErrThreadNotFound] if the viewer does not see it.
	Thread(ctx context.Context, viewer Viewer, id thread.ID) (Thread, error)
	// ThreadByCode is Thread by code.
	ThreadByCode(ctx context.Context, viewer Viewer, code thread.Code) (Thread, error)
	// Threads returns a page of the viewer's threads.
	Threads(ctx context.Context, viewer Viewer, page Range) (Page[Thread], error)
	// WasMember returns [thread.ErrThreadNotFound] unless the viewer is or was a member of the thread, even if deleted.
	WasMember(ctx context.Context, viewer Viewer, id thread.ID) error

	// Member returns the member of a thread that is not deleted, or [thread.ErrMemberNotFound].
	Member(ctx context.Context, tenant es.Tenant, id thread.ID, user thread.UserID) (Member, error)
	// Members reads the same page of the member lists of several threads, which the caller must be allowed to see.
	Members(ctx context.Context, tenant es.Tenant, threads []thread.ID, page Range) (map[thread.ID]Page[Member], error)

	// Message returns a message of a thread that the viewer sees, or [thread.ErrMessageNotFound].
	Message(ctx context.Context, viewer Viewer, id thread.MessageID) (Message, error)
	// Messages is Members for messages, without deleted ones.
	Messages(ctx context.Context, tenant es.Tenant, threads []thread.ID, page Range) (map[thread.ID]Page[Message], error)
}

// Thread, [Member] and [Message] are the rows of the read model, with the names of their columns. Queries never return
// rows that are Deleted or Removed. In lists they leave out the Tenant, which is the viewer's.
//
// Lists of threads are ordered by the last change, latest first.
type Thread struct {
	Tenant    es.Tenant     `db:"tenant_code"`
	ID        thread.ID     `db:"id"`
	Name      string        `db:"name"`
	Code      thread.Code   `db:"code"` // zero: the thread was created before codes existed
	Owner     thread.UserID `db:"owner_id"`
	Version   uint64        `db:"version"` // SeqNr of the last event in the thread's rows
	Deleted   bool          `db:"deleted"`
	CreatedAt time.Time     `db:"created_at"`
	UpdatedAt time.Time     `db:"updated_at"` // time of the last event
	Audit
}

// Position returns the thread's position in a list of threads; it changes with every event.
func (t Thread) Position() Position { return Position{At: t.UpdatedAt.UnixMicro(), ID: t.ID.String()} }

// Member is the membership of a user account; who joins again gets a new one. Lists are in the order of joining.
type Member struct {
	Tenant    es.Tenant       `db:"tenant_code"`
	ID        thread.MemberID `db:"id"`
	Thread    thread.ID       `db:"thread_id"`
	User      thread.UserID   `db:"user_account_id"`
	Role      thread.Role     `db:"role"`
	JoinedSeq uint64          `db:"joined_seq"` // SeqNr of the event that added the member
	Removed   bool            `db:"removed"`
	CreatedAt time.Time       `db:"created_at"`
	UpdatedAt time.Time       `db:"updated_at"`
	Audit
}

// Position returns the member's position in the list of the thread's members; it never changes.
func (m Member) Position() Position { return Position{At: int64(m.JoinedSeq), ID: m.ID.String()} }

// Message is a message; a deleted one has no text. Lists of messages are in the order of posting.
type Message struct {
	Tenant    es.Tenant        `db:"tenant_code"`
	ID        thread.MessageID `db:"id"`
	Thread    thread.ID        `db:"thread_id"`
	Sender    thread.UserID    `db:"user_account_id"`
	Text      string           `db:"text"`
	SeqNr     uint64           `db:"seq_nr"` // of the event that posted it
	Deleted   bool             `db:"deleted"`
	CreatedAt time.Time        `db:"created_at"`
	UpdatedAt time.Time        `db:"updated_at"`
	Audit
}

// Position returns the message's position in the list of the thread's messages; it never changes.
func (m Message) Position() Position { return Position{At: int64(m.SeqNr), ID: m.ID.String()} }

// InThread returns a page of the members or messages of a thread that the viewer sees, by the method that reads them.
func InThread[R any](
	ctx context.Context, q *Queries, viewer Viewer, id thread.ID, page Range,
	read func(context.Context, es.Tenant, []thread.ID, Range) (map[thread.ID]Page[R], error),
) ([]R, error) {
	if _, err := q.Thread(ctx, viewer, id); err != nil {
		return nil, err
	}
	pages, err := read(ctx, viewer.Tenant, []thread.ID{id}, page)
	return pages[id].Items, err
}

// ThreadChanges yields the thread as the viewer sees it: its current state, then a state after each change. Of quick
// changes, intermediate states are skipped, never the latest. It ends with the first error, such as
// [thread.ErrThreadNotFound] when the viewer is no longer a member, and without an error when ctx ends.
func (q *Queries) ThreadChanges(ctx context.Context, viewer Viewer, id thread.ID) iter.Seq2[Thread, error] {
	key := es.AggregateID{Tenant: viewer.Tenant, Type: thread.AggregateType, ID: id.String()}
	return Changes(ctx, q, key, func(ctx context.Context) (Thread, uint64, error) {
		found, err := q.Thread(ctx, viewer, id)
		return found, found.Version, err
	})
}
