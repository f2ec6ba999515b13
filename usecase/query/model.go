package query

import (
	"time"

	"example.com/threads/domain/thread"
	"example.com/threads/usecase"
)

// Viewer is who asks. A viewer sees the threads of the tenant that they are a member of and that are not deleted;
// nothing else exists for them.
type Viewer struct {
	Tenant usecase.Tenant
	User   thread.UserID
}

func (v Viewer) key(id thread.ID) usecase.Key {
	return usecase.Key{Tenant: v.Tenant, Type: thread.AggregateType, ID: id.String()}
}

// Thread, [Member] and [Message] are the rows of the read model: what the projection makes of events (usecase/chat),
// what the tables hold, and what queries answer with. Queries never show rows that are Deleted or Removed.
//
// Lists of threads begin with the one that changed last.
type Thread struct {
	Tenant    usecase.Tenant
	ID        thread.ID
	Name      string
	Owner     thread.UserID
	Version   uint64 // the seq_nr of the last event that is in the rows of the thread
	Deleted   bool
	CreatedAt time.Time
	UpdatedAt time.Time // of the last event, whatever it was
}

// Position is the thread's place in a list of threads; it moves with every event.
func (t Thread) Position() Position { return Position{At: t.UpdatedAt.UnixMicro(), ID: t.ID.String()} }

// Member is a user account's membership. Who leaves and joins again has another one. Lists of members are in the order
// of joining.
type Member struct {
	Tenant    usecase.Tenant
	ID        thread.MemberID
	Thread    thread.ID
	User      thread.UserID
	Role      thread.Role
	JoinedSeq uint64 // the seq_nr of the event that let the member in
	Removed   bool
	CreatedAt time.Time
	UpdatedAt time.Time
}

// Position is the member's place in the list of the thread's members; it never moves.
func (m Member) Position() Position { return Position{At: int64(m.JoinedSeq), ID: m.ID.String()} }

// Message is a message; a deleted one has no text. Lists of messages are in the order of posting.
type Message struct {
	Tenant    usecase.Tenant
	ID        thread.MessageID
	Thread    thread.ID
	Sender    thread.UserID
	Text      string
	SeqNr     uint64 // of its posting
	Deleted   bool
	CreatedAt time.Time
	UpdatedAt time.Time
}

// Position is the message's place in the list of the thread's messages; it never moves.
func (m Message) Position() Position { return Position{At: int64(m.SeqNr), ID: m.ID.String()} }
