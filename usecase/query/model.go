package query

import (
	"time"

	"example.com/threads/domain/thread"
	"example.com/threads/usecase"
	"example.com/threads/usecase/chat"
)

// Viewer is who asks. A viewer sees the threads of the tenant that they are a member of and that are not deleted;
// nothing else exists for them.
type Viewer struct {
	Tenant usecase.Tenant
	User   thread.UserID
}

func (v Viewer) key(id thread.ID) usecase.Key {
	return chat.ThreadKey(v.Tenant, id)
}

// Thread is a thread as the read model has it. Lists of threads begin with the one that changed last.
type Thread struct {
	ID        thread.ID
	Name      string
	Owner     thread.UserID
	Version   uint64 // the seq_nr of the last event that is in the read model
	CreatedAt time.Time
	UpdatedAt time.Time // of the last event
}

// Position is the thread's place in a list of threads; it moves with every event.
func (t Thread) Position() Position { return Position{At: t.UpdatedAt.UnixMicro(), ID: t.ID.String()} }

// Member is a user account's membership. Lists of members are in the order of joining.
type Member struct {
	ID        thread.MemberID
	Thread    thread.ID
	User      thread.UserID
	Role      thread.Role
	JoinedSeq uint64 // the seq_nr of the event that let the member in
	CreatedAt time.Time
	UpdatedAt time.Time
}

// Position is the member's place in the list of the thread's members; it never moves.
func (m Member) Position() Position { return Position{At: int64(m.JoinedSeq), ID: m.ID.String()} }

// Message is a message that has not been deleted. Lists of messages are in the order of posting.
type Message struct {
	ID        thread.MessageID
	Thread    thread.ID
	Sender    thread.UserID
	Text      string
	SeqNr     uint64 // of its posting
	CreatedAt time.Time
	UpdatedAt time.Time
}

// Position is the message's place in the list of the thread's messages; it never moves.
func (m Message) Position() Position { return Position{At: int64(m.SeqNr), ID: m.ID.String()} }
