package query

import (
	"cmp"
	"time"

	"example.com/threads/domain/thread"
	"example.com/threads/es"
)

// Viewer is the user of a query. A viewer sees only threads of the tenant that are not deleted and that the user is a
// member of.
type Viewer struct {
	Tenant es.Tenant
	User   thread.UserID
}

func (v Viewer) key(id thread.ID) es.AggregateID {
	return es.AggregateID{Tenant: v.Tenant, Type: thread.AggregateType, ID: id.String()}
}

// Audit has the executors of a row's first and last events, and the addresses and the request of them. The APIs do not
// show the addresses, the request and its source.
type Audit struct {
	CreatedBy thread.UserID // executor of the first event in the row
	UpdatedBy thread.UserID // executor of the last one
	CreatedIP string
	UpdatedIP string
	RequestID string
	Source    string
}

// Thread, [Member] and [Message] are the rows of the read model: the projection (usecase/chat) writes them, and queries
// return them. Queries never return rows that are Deleted or Removed. In lists they leave out the Tenant, which is the
// viewer's.
//
// Lists of threads are ordered by the last change, latest first.
type Thread struct {
	Tenant    es.Tenant
	ID        thread.ID
	Name      string
	Code      thread.Code // zero: the thread was created before codes existed
	Owner     thread.UserID
	Version   uint64 // SeqNr of the last event in the thread's rows
	Deleted   bool
	CreatedAt time.Time
	UpdatedAt time.Time // time of the last event
	Audit
}

// Position returns the thread's position in a list of threads; it changes with every event.
func (t Thread) Position() Position { return Position{At: t.UpdatedAt.UnixMicro(), ID: t.ID.String()} }

// Compare orders threads by position, the largest last.
func (t Thread) Compare(other Thread) int {
	return cmp.Or(t.UpdatedAt.Compare(other.UpdatedAt), t.ID.Compare(other.ID))
}

// Member is the membership of a user account. A user who leaves and joins again gets a new one. Lists of members are in
// the order of joining.
type Member struct {
	Tenant    es.Tenant
	ID        thread.MemberID
	Thread    thread.ID
	User      thread.UserID
	Role      thread.Role
	JoinedSeq uint64 // SeqNr of the event that added the member
	Removed   bool
	CreatedAt time.Time
	UpdatedAt time.Time
	Audit
}

// Position returns the member's position in the list of the thread's members; it never changes.
func (m Member) Position() Position { return Position{At: int64(m.JoinedSeq), ID: m.ID.String()} }

// Compare orders members by position.
func (m Member) Compare(other Member) int {
	return cmp.Or(cmp.Compare(m.JoinedSeq, other.JoinedSeq), m.ID.Compare(other.ID))
}

// Message is a message; a deleted one has no text. Lists of messages are in the order of posting.
type Message struct {
	Tenant    es.Tenant
	ID        thread.MessageID
	Thread    thread.ID
	Sender    thread.UserID
	Text      string
	SeqNr     uint64 // of the event that posted it
	Deleted   bool
	CreatedAt time.Time
	UpdatedAt time.Time
	Audit
}

// Position returns the message's position in the list of the thread's messages; it never changes.
func (m Message) Position() Position { return Position{At: int64(m.SeqNr), ID: m.ID.String()} }

// Compare orders messages by position.
func (m Message) Compare(other Message) int {
	return cmp.Or(cmp.Compare(m.SeqNr, other.SeqNr), m.ID.Compare(other.ID))
}
