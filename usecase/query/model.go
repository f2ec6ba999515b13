package query

import (
	"cmp"
	"time"

	"example.com/threads/domain/account"
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
	CreatedBy thread.UserID `db:"created_by"` // executor of the first event in the row
	UpdatedBy thread.UserID `db:"updated_by"` // executor of the last one
	CreatedIP string        `db:"created_ip"`
	UpdatedIP string        `db:"updated_ip"`
	RequestID string        `db:"request_id"`
	Source    string        `db:"source"`
}

// Thread, [Member] and [Message] are the rows of the read model, with the names of their columns: the projection
// (usecase/chat) writes them, and queries return them. Queries never return rows that are Deleted or Removed. In lists
// they leave out the Tenant, which is the viewer's.
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

// Compare orders threads by position, the largest last.
func (t Thread) Compare(other Thread) int {
	return cmp.Or(t.UpdatedAt.Compare(other.UpdatedAt), t.ID.Compare(other.ID))
}

// Member is the membership of a user account. A user who leaves and joins again gets a new one. Lists of members are in
// the order of joining.
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

// Compare orders members by position.
func (m Member) Compare(other Member) int {
	return cmp.Or(cmp.Compare(m.JoinedSeq, other.JoinedSeq), m.ID.Compare(other.ID))
}

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

// Compare orders messages by position.
func (m Message) Compare(other Message) int {
	return cmp.Or(cmp.Compare(m.SeqNr, other.SeqNr), m.ID.Compare(other.ID))
}

// Account is the row of an account. A closed account keeps its name.
type Account struct {
	Tenant    es.Tenant  `db:"tenant_code"`
	ID        account.ID `db:"id"`
	Name      string     `db:"name"`
	Closed    bool       `db:"closed"`
	Version   uint64     `db:"version"` // the seq_nr of the last event in the row
	CreatedAt time.Time  `db:"created_at"`
	UpdatedAt time.Time  `db:"updated_at"`
	Audit
}

// MaxPage is the maximum page size.
const MaxPage = 500

// Position is a position in a list: the value that the list is ordered by, and the id as a tie-breaker. It stays valid
// when its row has moved or is deleted. The zero value means no position.
type Position struct {
	At int64
	ID string
}

// IsZero reports whether p means no position.
func (p Position) IsZero() bool { return p == Position{} }

// Range is a requested page: at most Limit rows between After and Before, both exclusive. Rows are counted from the
// list's beginning or, if Backward, from its end; they are returned in the list's order in both cases.
type Range struct {
	After, Before Position // zero: from the beginning, to the end
	AfterID       string   // in place of After: the id of a row in the only list, also of a deleted row
	Limit         int
	Backward      bool
}

// Page is a part of a list.
type Page[T any] struct {
	Items       []T
	HasPrevious bool // there is a row before the first of Items
	HasNext     bool // there is a row after the last of Items
}
