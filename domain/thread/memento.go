package thread

import (
	"slices"

	"github.com/oklog/ulid/v2"

	"example.com/threads/domain/ident"
)

// Memento is the exported state of an existing thread, for snapshots. [Thread.Memento] and [Memento.Thread] are inverse
// functions for everything that decisions need.
type Memento struct {
	Deleted  bool
	Name     Name
	Members  []Member        // by user account
	Messages []MessageDigest // by id, so by time of posting
}

// MessageDigest is what the state keeps of a message.
type MessageDigest struct {
	ID     MessageID
	Sender UserID
	Text   TextDigest
}

// Memento exports the state. The cost grows with the thread: do not use it for commands.
func (t Thread) Memento() Memento {
	m := Memento{Deleted: t.deleted, Name: t.name}
	m.Members = slices.Grow(m.Members, t.members.size)
	m.Messages = slices.Grow(m.Messages, t.messages.size)
	t.members.all(func(_ ulid.ULID, member Member) {
		m.Members = append(m.Members, member)
	})
	t.messages.all(func(id ulid.ULID, p posting) {
		m.Messages = append(m.Messages, MessageDigest{ID: ident.FromULID[Message](id), Sender: p.sender, Text: p.text})
	})
	slices.SortFunc(m.Members, func(a, b Member) int { return a.User.Compare(b.User) })
	slices.SortFunc(m.Messages, func(a, b MessageDigest) int { return a.ID.Compare(b.ID) })
	return m
}

// Thread restores the state.
func (m Memento) Thread() Thread {
	t := Thread{created: true, deleted: m.Deleted, name: m.Name}
	for _, member := range m.Members {
		t = t.withMember(member)
	}
	for _, message := range m.Messages {
		t.messages = t.messages.with(message.ID.ULID(), posting{sender: message.Sender, text: message.Text})
	}
	return t
}
