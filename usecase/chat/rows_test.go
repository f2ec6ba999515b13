package chat

import (
	"errors"
	"maps"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"example.com/threads/domain/ident"
	"example.com/threads/domain/thread"
	"example.com/threads/domain/thread/threadtest"
	"example.com/threads/domain/writing"
	"example.com/threads/es"
	"example.com/threads/es/projection"
	"example.com/threads/tests/kit"
	"example.com/threads/usecase/query"
)

func id[T any](n byte) ident.Of[T] {
	return ident.New[T](time.UnixMilli(1700000000000), [10]byte{n})
}

var (
	begun = time.UnixMicro(1700000000000001).UTC()
	later = time.UnixMicro(1700000000000002).UTC()

	alice, bob   = id[ident.UserAccount](1), id[ident.UserAccount](2)
	aliceM, bobM = id[thread.Member](3), id[thread.Member](4)
	hello        = id[thread.Message](5)
	stranger     = id[thread.Message](6)
	other        = id[thread.Thread](7)
)

func name(t *testing.T, text string) thread.Name {
	t.Helper()
	parsed, err := writing.ParseName(text)
	if err != nil {
		t.Fatal(err)
	}
	return parsed
}

func text(t *testing.T, words string) thread.Text {
	t.Helper()
	parsed, err := thread.ParseText(words)
	if err != nil {
		t.Fatal(err)
	}
	return parsed
}

// The metadata of the rows before each event of the tables below, of rows that the event creates, and of those that it
// changes. A source longer than its column is clipped.
var (
	first   = query.Audit{CreatedBy: alice, UpdatedBy: alice, CreatedIP: "192.0.2.1", UpdatedIP: "192.0.2.1", RequestID: "request 1", Source: "first"}
	made    = query.Audit{CreatedBy: bob, UpdatedBy: bob, CreatedIP: "192.0.2.8", UpdatedIP: "192.0.2.8", RequestID: "request 8", Source: strings.Repeat("é", 255)}
	changed = query.Audit{CreatedBy: alice, UpdatedBy: bob, CreatedIP: "192.0.2.1", UpdatedIP: "192.0.2.8", RequestID: "request 8", Source: strings.Repeat("é", 255)}
)

// The rows before each event of the tables below: a thread at version 7 with two members and a message.
func threadBefore(key es.AggregateID) query.Thread {
	return query.Thread{Tenant: key.Tenant, ID: ThreadID(key), Name: "before", Owner: alice, Version: 7, CreatedAt: begun, UpdatedAt: begun, Audit: first}
}

func rowsBefore(key es.AggregateID) Rows {
	message := query.Message{Tenant: key.Tenant, ID: hello, Thread: ThreadID(key), Sender: bob, Text: "hello", SeqNr: 3, CreatedAt: begun, UpdatedAt: begun, Audit: first}
	elsewhere := message
	elsewhere.ID, elsewhere.Thread = stranger, other
	return rowsWith(threadBefore(key), []query.Member{
		{Tenant: key.Tenant, ID: aliceM, Thread: ThreadID(key), User: alice, Role: thread.RoleAdmin, JoinedSeq: 1, CreatedAt: begun, UpdatedAt: begun, Audit: first},
		{Tenant: key.Tenant, ID: bobM, Thread: ThreadID(key), User: bob, Role: thread.RoleMember, JoinedSeq: 2, CreatedAt: begun, UpdatedAt: begun, Audit: first},
	}, message, elsewhere)
}

func rowsWith(row query.Thread, members []query.Member, messages ...query.Message) Rows {
	rows := NewRows()
	rows.put(row, members, messages...)
	return rows
}

func (r Rows) put(row query.Thread, members []query.Member, messages ...query.Message) {
	r.Threads[RowKey[thread.Thread]{row.Tenant, row.ID}] = row
	for _, member := range members {
		r.Members[RowKey[thread.Member]{member.Tenant, member.ID}] = member
	}
	for _, message := range messages {
		r.Messages[RowKey[thread.Message]{message.Tenant, message.ID}] = message
	}
}

func keyOf(t *testing.T) es.AggregateID {
	t.Helper()
	tenant, err := es.ParseTenant("acme")
	if err != nil {
		t.Fatal(err)
	}
	return ThreadKey(tenant, id[thread.Thread](9))
}

func next(key es.AggregateID, event any) projection.Event {
	return projection.Event{
		Envelope: es.Envelope{AggregateType: key.Type, AggregateID: key.ID, SeqNr: 8, OccurredAt: later, Caller: es.Caller{
			Tenant: key.Tenant, Executor: bob.String(), ClientIP: "192.0.2.8", RequestID: "request 8", Source: strings.Repeat("é", 300),
		}},
		Event: event,
	}
}

func TestWhatEventsDo(t *testing.T) {
	key := keyOf(t)
	before := rowsBefore(key)
	bobRow, helloRow := before.Members[RowKey[thread.Member]{key.Tenant, bobM}], before.Messages[RowKey[thread.Message]{key.Tenant, hello}]
	carol, carolM, news := id[ident.UserAccount](10), id[thread.Member](11), id[thread.Message](12)

	type change struct {
		thread   query.Thread
		members  []query.Member
		messages []query.Message
	}
	for _, c := range []struct {
		event thread.Event
		want  func(*change)
	}{
		{thread.Renamed{Name: name(t, "after")}, func(c *change) { c.thread.Name = "after" }},
		{thread.Deleted{}, func(c *change) { c.thread.Deleted = true }},
		{thread.MemberAdded{Member: thread.Member{ID: carolM, User: carol, Role: thread.RoleMember}}, func(c *change) {
			c.members = []query.Member{{
				Tenant: key.Tenant, ID: carolM, Thread: ThreadID(key), User: carol, Role: thread.RoleMember, JoinedSeq: 8, CreatedAt: later, UpdatedAt: later, Audit: made,
			}}
		}},
		{thread.MemberRemoved{Member: bobM, User: bob}, func(c *change) {
			left := bobRow
			left.Removed, left.UpdatedAt, left.Audit = true, later, changed
			c.members = []query.Member{left}
		}},
		{thread.MemberRoleChanged{Member: bobM, User: bob, Role: thread.RoleAdmin}, func(c *change) {
			promoted := bobRow
			promoted.Role, promoted.UpdatedAt, promoted.Audit = thread.RoleAdmin, later, changed
			c.members = []query.Member{promoted}
		}},
		{thread.MessagePosted{Message: thread.Message{ID: news, Sender: alice, Text: text(t, "news")}}, func(c *change) {
			c.messages = []query.Message{{
				Tenant: key.Tenant, ID: news, Thread: ThreadID(key), Sender: alice, Text: "news", SeqNr: 8, CreatedAt: later, UpdatedAt: later, Audit: made,
			}}
		}},
		{thread.MessageEdited{Message: thread.Message{ID: hello, Sender: bob, Text: text(t, "edited")}}, func(c *change) {
			edited := helloRow
			edited.Text, edited.UpdatedAt, edited.Audit = "edited", later, changed
			c.messages = []query.Message{edited}
		}},
		{thread.MessageDeleted{Message: hello}, func(c *change) {
			gone := helloRow
			gone.Text, gone.Deleted, gone.UpdatedAt, gone.Audit = "", true, later, changed
			c.messages = []query.Message{gone}
		}},
	} {
		want, changes := rowsBefore(key), change{thread: threadBefore(key)}
		changes.thread.Version, changes.thread.UpdatedAt, changes.thread.Audit = 8, later, changed
		c.want(&changes)
		want.put(changes.thread, changes.members, changes.messages...)
		got := rowsBefore(key)
		if err := got.Apply(next(key, c.event)); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%T: %v\n%+v instead of\n%+v", c.event, err, got, want)
		}
	}
}

func TestWhatTheFirstEventDoes(t *testing.T) {
	key := keyOf(t)
	created := next(key, thread.Created{Name: name(t, "new"), Code: thread.RecordedCode("THREAD-000007"), Members: []thread.Member{
		{ID: bobM, User: bob, Role: thread.RoleMember}, {ID: aliceM, User: alice, Role: thread.RoleAdmin},
	}})
	created.SeqNr = 1
	got := NewRows()
	err := got.Apply(created)
	want := rowsWith(
		query.Thread{Tenant: key.Tenant, ID: ThreadID(key), Name: "new", Code: thread.RecordedCode("THREAD-000007"), Owner: alice, Version: 1, CreatedAt: later, UpdatedAt: later, Audit: made},
		[]query.Member{
			{Tenant: key.Tenant, ID: bobM, Thread: ThreadID(key), User: bob, Role: thread.RoleMember, JoinedSeq: 1, CreatedAt: later, UpdatedAt: later, Audit: made},
			{Tenant: key.Tenant, ID: aliceM, Thread: ThreadID(key), User: alice, Role: thread.RoleAdmin, JoinedSeq: 1, CreatedAt: later, UpdatedAt: later, Audit: made},
		},
	)
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%v\n%+v instead of\n%+v", err, got, want)
	}
}

func TestEventsThatContradictTheRows(t *testing.T) {
	key := keyOf(t)
	live, deleted, left, none := rowsBefore(key), rowsBefore(key), rowsBefore(key), NewRows()
	gone := threadBefore(key)
	gone.Deleted = true
	deleted.put(gone, nil)
	member, message := left.Members[RowKey[thread.Member]{key.Tenant, bobM}], left.Messages[RowKey[thread.Message]{key.Tenant, hello}]
	member.Removed, message.Deleted = true, true
	left.put(threadBefore(key), []query.Member{member}, message)

	for _, c := range []struct {
		rows  Rows
		event any
		want  string
	}{
		{live, thread.Created{Name: name(t, "again"), Members: []thread.Member{{ID: aliceM, User: alice, Role: thread.RoleAdmin}}}, "exists already"},
		{none, thread.Created{Name: name(t, "nobody's")}, "without an Admin"},
		{none, thread.Renamed{Name: name(t, "nothing")}, "does not exist"},
		{deleted, thread.Renamed{Name: name(t, "late")}, "is deleted"},
		{live, thread.MemberRemoved{Member: id[thread.Member](99), User: bob}, "not in the thread"},
		{left, thread.MemberRemoved{Member: bobM, User: bob}, "not in the thread"},
		{left, thread.MemberRoleChanged{Member: bobM, User: bob, Role: thread.RoleAdmin}, "not in the thread"},
		{live, thread.MessageEdited{Message: thread.Message{ID: stranger, Sender: bob, Text: text(t, "another thread's")}}, "not in the thread"},
		{left, thread.MessageEdited{Message: thread.Message{ID: hello, Sender: bob, Text: text(t, "gone")}}, "not in the thread"},
		{left, thread.MessageDeleted{Message: hello}, "not in the thread"},
		{live, nil, "is no event"},
	} {
		before := rowsCopy(c.rows)
		if err := c.rows.Apply(next(key, c.event)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%T: %v instead of %q", c.event, err, c.want)
		}
		if !reflect.DeepEqual(before, c.rows) {
			t.Fatalf("%T changed the rows that it contradicts", c.event)
		}
	}
}

func rowsCopy(r Rows) Rows {
	return Rows{Threads: maps.Clone(r.Threads), Members: maps.Clone(r.Members), Messages: maps.Clone(r.Messages)}
}

// Every event must get into the rows, and every field of a row must be set by some event.
func TestEverythingThatMayHappenGetsIntoTheRows(t *testing.T) {
	rows := NewRows()
	for number, history := range threadtest.Histories() {
		key := ThreadKey(keyOf(t).Tenant, ident.New[thread.Thread](time.UnixMilli(int64(number+1)), [10]byte{1}))
		for i, event := range threadtest.Events(history) {
			recorded := next(key, event)
			recorded.SeqNr = uint64(i + 1)
			if err := rows.Apply(recorded); err != nil {
				t.Fatalf("%T: %v", event, err)
			}
		}
	}
	rows.Window.UpTo, rows.Window.After = 1, 1 // the events do not set it
	kit.EveryField(t, "rows", rows)
}

// memento is the state that the rows tell of.
func (r Rows) memento(key RowKey[thread.Thread]) thread.Memento {
	row := r.Threads[key]
	m := thread.Memento{Deleted: row.Deleted, Events: row.Version, Name: writing.RecordedName(row.Name)}
	for _, member := range r.Members {
		if !member.Removed {
			m.Members = append(m.Members, thread.Participant{Member: thread.Member{ID: member.ID, User: member.User, Role: member.Role}, Joined: member.JoinedSeq})
		}
	}
	for _, message := range r.Messages {
		if !message.Deleted {
			m.Messages = append(m.Messages, thread.Posting{ID: message.ID, Sender: message.Sender, Text: thread.RecordedText(message.Text).Digest(), Posted: message.SeqNr})
		}
	}
	return m
}

// An event must find the rows that it changes among those that RowsOf names, wherever a batch of events begins.
func TestEveryEventFindsItsRows(t *testing.T) {
	key := keyOf(t)
	for _, history := range threadtest.Histories() {
		all := NewRows()
		for i, event := range threadtest.Events(history) {
			recorded := next(key, event)
			recorded.SeqNr = uint64(i + 1)
			loaded := RowsOf([]projection.Event{recorded})
			keep(loaded.Threads, all.Threads)
			keep(loaded.Members, all.Members)
			keep(loaded.Messages, all.Messages)
			if err := errors.Join(all.Apply(recorded), loaded.Apply(recorded)); err != nil {
				t.Fatalf("%T: %v", event, err)
			}
			before := rowsCopy(all)
			maps.Copy(all.Threads, loaded.Threads)
			maps.Copy(all.Members, loaded.Members)
			maps.Copy(all.Messages, loaded.Messages)
			if !reflect.DeepEqual(before, all) {
				t.Fatalf("%T changes other rows when only those are loaded that RowsOf names", event)
			}
		}
	}
}

// keep replaces the rows by those that exist.
func keep[K comparable, R any](rows, existing map[K]R) {
	for key := range rows {
		if row, exists := existing[key]; exists {
			rows[key] = row
		} else {
			delete(rows, key)
		}
	}
}

// After every event, the rows must say what the state of the domain says.
func TestRowsSayWhatTheDomainSays(t *testing.T) {
	key := keyOf(t)
	same := cmp.Options{
		cmpopts.IgnoreFields(thread.Posting{}, "Edited"), // rows have the time of the last change instead
		cmpopts.EquateComparable(thread.MemberID{}, thread.MessageID{}, thread.UserID{}, writing.Name{}, thread.Role{}),
		cmpopts.SortSlices(func(a, b thread.Participant) bool { return a.ID.Compare(b.ID) < 0 }),
		cmpopts.SortSlices(func(a, b thread.Posting) bool { return a.ID.Compare(b.ID) < 0 }),
		cmpopts.EquateEmpty(),
	}
	for _, history := range threadtest.Histories() {
		rows, state := NewRows(), thread.Thread{}
		for i, event := range threadtest.Events(history) {
			recorded := next(key, event)
			recorded.SeqNr = uint64(i + 1)
			if err := rows.Apply(recorded); err != nil {
				t.Fatalf("%T: %v", event, err)
			}
			state = state.Apply(event)
			got := rows.memento(RowKey[thread.Thread]{key.Tenant, ThreadID(key)})
			if state.Deleted() { // its rows stay as they are, the state forgets the rest
				got.Members, got.Postings = nil, thread.Postings{}
			}
			if diff := cmp.Diff(state.Memento(), got, same); diff != "" {
				t.Fatalf("after %T (-domain +rows):\n%s", event, diff)
			}
		}
	}
}
