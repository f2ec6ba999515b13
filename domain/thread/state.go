package thread

import (
	"fmt"
	"slices"
	"unique"

	"github.com/oklog/ulid/v2"

	"example.com/threads/domain/ident"
)

// Thread is the state of a thread, as far as decisions need it. A message is only its sender and a digest of its text,
// so that a thread of 100,000 messages still fits in memory. The zero value is a thread that does not exist. A Thread
// is an immutable value that can be copied and shared between goroutines.
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
	members  trie[Participant] // by user account
	messages trie[posting]     // by message
}

// Deleted reports whether the thread was deleted.
func (t Thread) Deleted() bool { return t.deleted }

// Name returns the thread's name.
func (t Thread) Name() Name { return t.name }

// Size returns the number of members and messages.
func (t Thread) Size() (members, messages int) { return t.members.size, t.messages.size }

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
		posted := posting{sender: unique.Make(e.Message.Sender), text: e.Message.Text.Digest(), posted: uint32(t.events)}
		t.messages = t.messages.with(e.Message.ID.ULID(), posted)
	case MessageEdited:
		edited, _ := t.messages.get(e.Message.ID.ULID())
		edited.sender, edited.text, edited.edited = unique.Make(e.Message.Sender), e.Message.Text.Digest(), uint32(t.events)
		t.messages = t.messages.with(e.Message.ID.ULID(), edited)
	case MessageDeleted:
		t.messages = t.messages.without(e.Message.ULID())
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
	Members  []Participant   // by user account
	Messages []MessageDigest // by id, which is by time of posting
}

// Numbered reports whether the number of each member's and message's event is known. It is not in snapshots of earlier
// formats, and in what was replayed from them.
func (m Memento) Numbered() bool {
	return !slices.ContainsFunc(m.Members, func(p Participant) bool { return p.Joined == 0 }) &&
		!slices.ContainsFunc(m.Messages, func(d MessageDigest) bool { return d.Posted == 0 })
}

// MessageDigest is what the state keeps of a message.
type MessageDigest struct {
	ID     MessageID
	Sender UserID
	Text   TextDigest
	Posted uint64 // number of the event that posted it; 0: not known
	Edited uint64 // number of the event that last gave it another text; 0: none has
}

func (p posting) digest(id ulid.ULID) MessageDigest {
	return MessageDigest{ID: ident.FromULID[Message](id), Sender: p.sender.Value(), Text: p.text, Posted: uint64(p.posted), Edited: uint64(p.edited)}
}

func (d MessageDigest) posting() posting {
	return posting{sender: unique.Make(d.Sender), text: d.Text, posted: uint32(d.Posted), edited: uint32(d.Edited)}
}

// Memento lays the state open. Its cost grows with the thread: it is not for the path of a command.
func (t Thread) Memento() Memento {
	m := Memento{Deleted: t.deleted, Events: t.events, Name: t.name}
	m.Members = slices.Grow(m.Members, t.members.size)
	m.Messages = slices.Grow(m.Messages, t.messages.size)
	t.members.all(func(_ ulid.ULID, member Participant) {
		m.Members = append(m.Members, member)
	})
	t.messages.all(func(id ulid.ULID, p posting) {
		m.Messages = append(m.Messages, p.digest(id))
	})
	slices.SortFunc(m.Members, func(a, b Participant) int { return a.User.Compare(b.User) })
	slices.SortFunc(m.Messages, func(a, b MessageDigest) int { return a.ID.Compare(b.ID) })
	return m
}

// Thread is the state that m was taken from.
func (m Memento) Thread() Thread {
	t := Thread{created: true, deleted: m.Deleted, events: m.Events, name: m.Name}
	for _, member := range m.Members {
		t = t.withParticipant(member)
	}
	messages := make([]entry[posting], len(m.Messages))
	for i, d := range m.Messages {
		messages[i] = entry[posting]{d.ID.ULID(), d.posting()}
	}
	t.messages = trieOf(messages)
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
