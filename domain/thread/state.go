package thread

import (
	"fmt"
	"slices"

	"example.com/threads/domain/ident"
)

// Thread is the state of a thread, as far as decisions need it. A message is only its id, its sender and a digest of
// its text, so that a thread of 100,000 messages still fits in memory. The zero value is a thread that does not exist.
// A Thread is an immutable value that can be copied and shared between goroutines.
//
// It also knows the number of the event that each member and message comes from, so that history can be read there.
//
// A new field must be added to the [Memento] and its JSON (threadcodec). If older snapshots lack it, the snapshot
// format must be increased: older snapshots are then skipped and the state is replayed from events.
type Thread struct {
	created  bool
	deleted  bool
	events   uint64 // that have happened: the number of the last one
	name     Name
	admins   int
	members  immutableMap[UserID, Participant]
	messages immutableMap[MessageID, Posting]
}

// Deleted reports whether the thread was deleted.
func (t Thread) Deleted() bool { return t.deleted }

// Name returns the thread's name.
func (t Thread) Name() Name { return t.name }

// Size returns the number of members and messages.
func (t Thread) Size() (members, messages int) { return t.members.len(), t.messages.len() }

// Event is something that has happened to a thread. The set is closed: lifecycle.go, membership.go and posting.go have
// all of them. When, by whom and in which order it happened is told by the envelope around it, not by the event.
//
//sumtype:decl
type Event interface{ isEvent() }

// Apply returns the state after event; t is not changed. Apply checks nothing and never fails. Its cost does not grow
// with the thread.
func (t Thread) Apply(event Event) Thread {
	t.events++
	switch e := event.(type) {
	case Created:
		t.created, t.name = true, e.Name
		for _, member := range e.Members {
			t = t.withMember(member)
		}
	case Renamed:
		t.name = e.Name
	case Deleted:
		// No command on a deleted thread is accepted, so the rest of the state is dropped.
		t = Thread{created: true, deleted: true, events: t.events, name: t.name}
	case MemberAdded:
		t = t.withMember(e.Member)
	case MemberRemoved:
		t = t.withoutMember(e.User)
	case MemberRoleChanged:
		t = t.withMember(Member{ID: e.Member, User: e.User, Role: e.Role})
	case MessagePosted:
		posting := Posting{ID: e.Message.ID, Sender: e.Message.Sender, Text: e.Message.Text.Digest(), Posted: t.events}
		t.messages = t.messages.with(posting.ID, posting)
	case MessageEdited:
		if posting, exists := t.messages.get(e.Message.ID); exists {
			posting.Text, posting.Edited = e.Message.Text.Digest(), t.events
			t.messages = t.messages.with(posting.ID, posting)
		}
	case MessageDeleted:
		t.messages = t.messages.without(e.Message)
	default:
		// The set of events is closed: only a new event without a case can get here.
		panic(fmt.Sprintf("thread: no state after event %T", event))
	}
	return t
}

// Replay returns the state after all events, in order.
func (t Thread) Replay(events ...Event) Thread {
	for _, event := range events {
		t = t.Apply(event)
	}
	return t
}

// Memento is the state of a thread that exists, laid open for those who store it as a snapshot. [Thread.Memento] and
// [Memento.Thread] are inverse: what decisions need survives the way there and back.
type Memento struct {
	Deleted  bool
	Events   uint64 // number of the last event
	Name     Name
	Members  []Participant // by user account
	Messages []Posting     // by id
}

// Memento lays the state open. Its cost grows with the thread: it is not for the path of a command.
func (t Thread) Memento() Memento {
	return Memento{
		Deleted: t.deleted, Events: t.events, Name: t.name,
		Members:  slices.SortedFunc(t.members.values(), func(a, b Participant) int { return a.User.Compare(b.User) }),
		Messages: slices.SortedFunc(t.messages.values(), func(a, b Posting) int { return a.ID.Compare(b.ID) }),
	}
}

// Thread is the state that m was taken from.
func (m Memento) Thread() Thread {
	t := Thread{created: true, deleted: m.Deleted, events: m.Events, name: m.Name}
	for _, member := range m.Members {
		t = t.withParticipant(member)
	}
	t.messages = mapOf(m.Messages, func(p Posting) MessageID { return p.ID })
	return t
}

// AggregateType is what event stores know threads as.
const AggregateType = "thread"

// The identifiers of a thread and of what is in it.
type (
	ID        = ident.Of[Thread]
	MemberID  = ident.Of[Member]
	MessageID = ident.Of[Message]
	UserID    = ident.UserID
)
