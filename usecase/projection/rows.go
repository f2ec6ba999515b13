package projection

import (
	"time"

	"example.com/threads/domain/thread"
	"example.com/threads/usecase"
)

// Thread is the row of a thread. Version is the seq_nr of the last event that is in the rows of the thread.
type Thread struct {
	Key       usecase.Key
	Name      string
	Owner     thread.UserID
	Version   uint64
	Deleted   bool
	CreatedAt time.Time
	UpdatedAt time.Time // when the last event happened, whatever it was
}

// Member is the row of a membership. Who leaves and joins again has another one.
type Member struct {
	Key       MemberKey
	Thread    thread.ID
	User      thread.UserID
	Role      string
	JoinedSeq uint64 // the seq_nr of the event that let the member in
	Removed   bool
	CreatedAt time.Time
	UpdatedAt time.Time
}

// Message is the row of a message. A deleted one has no text.
type Message struct {
	Key       MessageKey
	Thread    thread.ID
	Sender    thread.UserID
	Text      string
	SeqNr     uint64 // of its posting
	Deleted   bool
	CreatedAt time.Time
	UpdatedAt time.Time
}

// MemberKey and MessageKey name rows of a tenant.
type (
	MemberKey struct {
		Tenant usecase.Tenant
		ID     thread.MemberID
	}
	MessageKey struct {
		Tenant usecase.Tenant
		ID     thread.MessageID
	}
)

// DeadLetter says that a thread is parked: its rows stay as they are until the event with SeqNr can be projected.
type DeadLetter struct {
	Key      usecase.Key
	SeqNr    uint64
	EventID  string // as far as it could be read
	Payload  []byte // as it stands in the journal; empty where that could be read
	Reason   string
	Attempts int // on this event
	ParkedAt time.Time
	RetryAt  time.Time
}

// Wanted names the rows that a transaction works on.
type Wanted struct {
	Threads  []usecase.Key // with their dead letters
	Members  []MemberKey
	Messages []MessageKey
}

// Rows are rows of the read model by their keys.
type Rows struct {
	Threads  map[usecase.Key]Thread
	Members  map[MemberKey]Member
	Messages map[MessageKey]Message
	Parked   map[usecase.Key]DeadLetter
}

// NewRows is no rows, ready to take some.
func NewRows() Rows {
	return Rows{
		Threads:  make(map[usecase.Key]Thread),
		Members:  make(map[MemberKey]Member),
		Messages: make(map[MessageKey]Message),
		Parked:   make(map[usecase.Key]DeadLetter),
	}
}

// Changes is what a transaction leaves behind.
type Changes struct {
	Rows       Rows          // as they are from now on, whether they were there before or not; Parked among them
	Released   []usecase.Key // the threads that are not parked any more
	Checkpoint Checkpoint    // the zero value: none
	At         time.Time     // when
}

// wantedBy names the rows that runs may change, and that are not made by them.
func wantedBy(runs []run) Wanted {
	var wanted Wanted
	for _, run := range runs {
		wanted.Threads = append(wanted.Threads, run.key)
		for _, recorded := range run.events {
			switch event := recorded.Event.(type) {
			case thread.MemberRemoved:
				wanted.Members = append(wanted.Members, MemberKey{recorded.Tenant, event.Member})
			case thread.MemberRoleChanged:
				wanted.Members = append(wanted.Members, MemberKey{recorded.Tenant, event.Member})
			case thread.MessageEdited:
				wanted.Messages = append(wanted.Messages, MessageKey{recorded.Tenant, event.Message.ID})
			case thread.MessageDeleted:
				wanted.Messages = append(wanted.Messages, MessageKey{recorded.Tenant, event.Message})
			case thread.Created, thread.Renamed, thread.Deleted, thread.MemberAdded, thread.MessagePosted:
			}
		}
	}
	return wanted
}
