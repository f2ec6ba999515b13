package readmodeltest

import (
	"fmt"
	"testing"
	"time"

	"example.com/threads/domain/account"
	"example.com/threads/domain/ident"
	"example.com/threads/domain/thread"
	"example.com/threads/domain/writing"
	"example.com/threads/es"
	"example.com/threads/interfaceadaptor/eventjson"
	"example.com/threads/interfaceadaptor/readmodel/chatrows"
	"example.com/threads/tests/kit"
	"example.com/threads/tests/kit/feed"
	"example.com/threads/usecase/chat"
)

// World is the threads and accounts of a tenant. Every method projects one event into the rows before it returns.
// Events are a millisecond apart on the world's clock.
type World struct {
	t       testing.TB
	Tenant  es.Tenant
	feed    *feed.Feed
	members map[membership]thread.MemberID
}

type membership struct {
	thread thread.ID
	user   thread.UserID
}

// World returns the world of the tenant with the given code. It is empty at first.
func (d *Database) World(t testing.TB, code string) *World {
	t.Helper()
	if known := d.worlds[code]; known != nil {
		return known
	}
	tenant, err := es.ParseTenant(code)
	if err != nil {
		t.Fatal(err)
	}
	w := &World{t: d.t, Tenant: tenant, feed: feed.New(d.t, d.DB, chatrows.Projection, chatrows.Handlers()...), members: map[membership]thread.MemberID{}}
	d.worlds[code] = w
	return w
}

// Key returns the key of a thread of the world.
func (w *World) Key(id thread.ID) es.AggregateID { return chat.ThreadKey(w.Tenant, id) }

// Now returns the time of the last event.
func (w *World) Now() time.Time { return w.feed.Now() }

// By returns the executor of the last event.
func (w *World) By() thread.UserID {
	w.t.Helper()
	by, err := ident.Parse[ident.UserAccount](w.feed.Executor())
	if err != nil {
		w.t.Fatal(err)
	}
	return by
}

// happened projects the thread's next event and returns its number.
func (w *World) happened(id thread.ID, event thread.Event) uint64 {
	w.t.Helper()
	return feed.Happened(w.feed, eventjson.Threads().Events, w.Tenant, id.String(), event)[0].SeqNr
}

// Thread creates a thread. The creator becomes its first member.
func (w *World) Thread(name string, creator thread.UserID) thread.ID {
	w.t.Helper()
	id := kit.NewID[thread.Thread]()
	w.ThreadWithID(id, name, creator)
	return id
}

// ThreadWithID is Thread with a given id, which another tenant may have too.
func (w *World) ThreadWithID(id thread.ID, name string, creator thread.UserID) {
	w.t.Helper()
	w.happened(id, thread.Created{Name: writing.RecordedName(name), Members: []thread.Member{w.member(id, creator, thread.RoleAdmin)}})
}

// CodedThread creates a thread that has a code.
func (w *World) CodedThread(name, code string, creator thread.UserID) thread.ID {
	w.t.Helper()
	id := kit.NewID[thread.Thread]()
	w.happened(id, thread.Created{
		Name: writing.RecordedName(name), Code: thread.RecordedCode(code), Members: []thread.Member{w.member(id, creator, thread.RoleAdmin)},
	})
	return id
}

// Rename renames the thread.
func (w *World) Rename(id thread.ID, name string) uint64 {
	w.t.Helper()
	return w.happened(id, thread.Renamed{Name: writing.RecordedName(name)})
}

// Delete deletes the thread.
func (w *World) Delete(id thread.ID) uint64 {
	w.t.Helper()
	return w.happened(id, thread.Deleted{})
}

// Add adds a user account to the thread.
func (w *World) Add(id thread.ID, user thread.UserID) thread.MemberID {
	w.t.Helper()
	member := w.member(id, user, thread.RoleMember)
	w.happened(id, thread.MemberAdded{Member: member})
	return member.ID
}

func (w *World) member(id thread.ID, user thread.UserID, role thread.Role) thread.Member {
	member := thread.Member{ID: kit.NewID[thread.Member](), User: user, Role: role}
	w.members[membership{id, user}] = member.ID
	return member
}

// Remove removes a user account from the thread.
func (w *World) Remove(id thread.ID, user thread.UserID) uint64 {
	w.t.Helper()
	member := w.members[membership{id, user}]
	delete(w.members, membership{id, user})
	return w.happened(id, thread.MemberRemoved{Member: member, User: user})
}

// MemberID returns the id of a user account's membership in a thread.
func (w *World) MemberID(id thread.ID, user thread.UserID) (thread.MemberID, error) {
	member, is := w.members[membership{id, user}]
	if !is {
		return member, fmt.Errorf("%s is not a member of %s", user, id)
	}
	return member, nil
}

// Post posts a message.
func (w *World) Post(id thread.ID, sender thread.UserID, text string) thread.MessageID {
	w.t.Helper()
	message := thread.Message{ID: kit.NewID[thread.Message](), Sender: sender, Text: thread.RecordedText(text)}
	w.happened(id, thread.MessagePosted{Message: message})
	return message.ID
}

// Unpost deletes a message.
func (w *World) Unpost(id thread.ID, message thread.MessageID) uint64 {
	w.t.Helper()
	return w.happened(id, thread.MessageDeleted{Message: message})
}

// Account registers a user account with a name.
func (w *World) Account(id account.ID, name string) {
	w.t.Helper()
	feed.Happened(w.feed, eventjson.Accounts().Events, w.Tenant, id.String(), account.Event(account.Registered{Name: writing.RecordedName(name)}))
}

// CloseAccount closes an account.
func (w *World) CloseAccount(id account.ID) {
	w.t.Helper()
	feed.Happened(w.feed, eventjson.Accounts().Events, w.Tenant, id.String(), account.Event(account.Closed{}))
}
