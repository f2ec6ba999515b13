package history_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"iter"
	"log/slog"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"example.com/threads/domain/ident"
	"example.com/threads/domain/thread"
	"example.com/threads/domain/thread/threadtest"
	"example.com/threads/domain/writing"
	"example.com/threads/es"
	"example.com/threads/es/database"
	"example.com/threads/es/dynamodb/dynamodbtest"
	"example.com/threads/es/migration"
	"example.com/threads/es/sqlstore"
	"example.com/threads/extras/history"
	"example.com/threads/infrastructure/eventstore"
	"example.com/threads/interfaceadaptor/eventjson"
	"example.com/threads/tests/kit"
	"example.com/threads/usecase/chat"
	"example.com/threads/usecase/query"
)

// sqlite is an event store that keeps every snapshot.
func sqlite(t testing.TB) es.Store {
	t.Helper()
	db, err := database.Open(t.Context(), "sqlite:"+filepath.Join(t.TempDir(), "events.db"), database.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := migration.Up(t.Context(), db, sqlstore.Schema()); err != nil {
		t.Fatal(err)
	}
	gateway, err := sqlstore.New(t.Context(), db, sqlstore.Settings{SnapshotKeep: 1000})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = gateway.Close(context.WithoutCancel(t.Context()))
		_ = db.Close()
	})
	return gateway
}

// past is a thread in an event store with all its events.
type past struct {
	gateway es.Store
	tenant  es.Tenant
	id      thread.ID
	events  []es.Recorded[thread.Event]
}

// happen writes events to a new thread, with a snapshot after every third event, alternately in the current and in an
// outdated format.
func happen(t testing.TB, gateway es.Store, events ...thread.Event) *past {
	t.Helper()
	p := &past{gateway: gateway, tenant: "acme", id: kit.NewID[thread.Thread]()}
	p.write(t, events...)
	state := thread.Thread{}
	for i, event := range events {
		state = state.Apply(event)
		if i%3 != 2 {
			continue
		}
		payload, err := eventjson.Threads().Snapshots.Encode(p.id.String(), uint64(i+1), state)
		if err != nil {
			t.Fatal(err)
		}
		if i%6 == 2 {
			payload = bytes.Replace(payload, []byte(`"format":5`), []byte(`"format":4`), 1)
		}
		if err := gateway.SaveSnapshot(t.Context(), p.key(), es.Snapshot{Version: uint64(i + 1), Payload: payload}); err != nil {
			t.Fatal(err)
		}
	}
	return p
}

func (p *past) key() es.AggregateID { return chat.ThreadKey(p.tenant, p.id) }

// write appends events, a second apart.
func (p *past) write(t testing.TB, events ...thread.Event) {
	t.Helper()
	before := len(p.events)
	var entries []es.Entry
	for i, event := range events {
		seqNr := uint64(before + i + 1)
		recorded := es.Recorded[thread.Event]{
			Envelope: es.Envelope{
				EventID: kit.NewID[thread.Event]().String(), AggregateType: thread.AggregateType, AggregateID: p.id.String(), SeqNr: seqNr,
				OccurredAt: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(seqNr) * time.Second),
				CommandID:  kit.NewID[thread.Command]().String(), Caller: es.Caller{Tenant: p.tenant, Executor: threadtest.People[0].String(), Source: "test"},
			},
			Event: event,
		}
		payload, err := eventjson.Threads().Events.Encode(recorded)
		if err != nil {
			t.Fatal(err)
		}
		p.events = append(p.events, recorded)
		entries = append(entries, es.Entry{SeqNr: seqNr, EventID: recorded.EventID, OccurredAt: recorded.OccurredAt, CommandID: recorded.CommandID, Payload: payload})
	}
	for some := range slices.Chunk(entries, es.MaxAppend) {
		write := es.Append{ID: p.key(), ExpectedVersion: some[0].SeqNr - 1, Entries: some}
		if err := p.gateway.Append(t.Context(), write); err != nil {
			t.Fatal(err)
		}
	}
}

func (p *past) history() *history.History {
	open := func(context.Context) (*eventstore.Store, error) { return &eventstore.Store{Gateway: p.gateway}, nil }
	return history.New(open, slog.New(slog.DiscardHandler))
}

func (p *past) viewer(user thread.UserID) query.Viewer {
	return query.Viewer{Tenant: p.tenant, User: user}
}

// view is an earlier state of a thread, computed from all its events in the simplest way.
type view struct {
	Name     string
	Deleted  bool
	Members  []query.Member
	Messages []query.Message
}

func (p *past) view(version int) view {
	var v view
	join := func(m thread.Member, at time.Time) {
		v.Members = append(v.Members, query.Member{User: m.User, Role: m.Role, CreatedAt: at})
	}
	member := func(user thread.UserID) int {
		return slices.IndexFunc(v.Members, func(m query.Member) bool { return m.User == user })
	}
	message := func(id thread.MessageID) int {
		return slices.IndexFunc(v.Messages, func(m query.Message) bool { return m.ID == id })
	}
	for _, recorded := range p.events[:version] {
		at := recorded.OccurredAt
		switch e := recorded.Event.(type) {
		case thread.Created:
			v.Name = e.Name.String()
			for _, m := range e.Members {
				join(m, at)
			}
		case thread.Renamed:
			v.Name = e.Name.String()
		case thread.Deleted:
			v = view{Name: v.Name, Deleted: true}
		case thread.MemberAdded:
			join(e.Member, at)
		case thread.MemberRemoved:
			v.Members = slices.Delete(v.Members, member(e.User), member(e.User)+1)
		case thread.MemberRoleChanged:
			v.Members[member(e.User)].Role = e.Role
		case thread.MessagePosted:
			v.Messages = append(v.Messages, query.Message{ID: e.Message.ID, Sender: e.Message.Sender, Text: e.Message.Text.String(), CreatedAt: at, UpdatedAt: at})
		case thread.MessageEdited:
			m := &v.Messages[message(e.Message.ID)]
			m.Text, m.UpdatedAt = e.Message.Text.String(), at
		case thread.MessageDeleted:
			v.Messages = slices.Delete(v.Messages, message(e.Message), message(e.Message)+1)
		}
	}
	return v
}

// anAdmin returns an Admin of the thread, or of its state before it was deleted; false: it has no members.
func (p *past) anAdmin() (thread.UserID, bool) {
	last := len(p.events)
	if p.view(last).Deleted {
		last--
	}
	for _, m := range p.view(last).Members {
		if m.Role == thread.RoleAdmin {
			return m.User, true
		}
	}
	return thread.UserID{}, false
}

// seen returns the history's state of a version. It reads the messages in pages.
func seen(t *testing.T, history *history.History, viewer query.Viewer, id thread.ID, version int) view {
	t.Helper()
	state, err := history.At(t.Context(), viewer, id, version)
	if err != nil {
		t.Fatalf("version %d: %v", version, err)
	}
	if state.Version != uint64(version) {
		t.Fatalf("version %d, want %d", state.Version, version)
	}
	v := view{Name: state.Name, Deleted: state.Deleted}
	members, err := state.Members(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, member := range members {
		v.Members = append(v.Members, member.Member)
	}
	page, last := 3, (*string)(nil)
	for {
		messages, err := state.Messages(t.Context(), &page, last, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, message := range messages {
			v.Messages, last = append(v.Messages, message.Message), &message.ID
		}
		if len(messages) < page {
			return v
		}
	}
}

// More members than are read at a time.
func TestAThreadOfManyMembers(t *testing.T) {
	events := []thread.Event{created()}
	for range query.MaxPage {
		events = append(events, joins(kit.NewID[ident.UserAccount](), thread.RoleMember))
	}
	p := happen(t, sqlite(t), events...)
	want, got := p.view(len(events)), seen(t, p.history(), p.viewer(ada), p.id, len(events))
	if diff := cmp.Diff(want, got, kit.ByValue(), cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Every version of random threads must match its events, with any snapshots.
func TestEveryVersionOfAThread(t *testing.T) {
	for name, store := range map[string]struct {
		open      func(t *testing.T) es.Store
		histories int
	}{
		"sqlite":   {func(t *testing.T) es.Store { return sqlite(t) }, 25},
		"dynamodb": {func(t *testing.T) es.Store { return dynamodbtest.New(t) }, 2},
	} {
		t.Run(name, func(t *testing.T) {
			gateway := store.open(t)
			checked := 0
			for _, steps := range threadtest.Histories() {
				events := threadtest.Events(steps)
				if len(events) < 6 || checked == store.histories {
					continue
				}
				p := happen(t, gateway, events...)
				admin, exists := p.anAdmin()
				if !exists {
					continue
				}
				checked++
				for version := range len(events) {
					want := p.view(version + 1)
					got := seen(t, p.history(), p.viewer(admin), p.id, version+1)
					if diff := cmp.Diff(want, got, kit.ByValue(), cmpopts.EquateEmpty()); diff != "" {
						t.Fatalf("version %d of %d (-want +got):\n%s", version+1, len(events), diff)
					}
				}
			}
			if checked != store.histories {
				t.Errorf("%d histories were long enough, want %d", checked, store.histories)
			}
		})
	}
}

// The people of these tests: ada creates threads, bob joins as Member, eve is a stranger.
var ada, bob, eve = threadtest.People[0], threadtest.People[1], threadtest.People[2]

func created() thread.Event {
	return thread.Created{Name: writing.RecordedName("tea"), Members: []thread.Member{{ID: kit.NewID[thread.Member](), User: ada, Role: thread.RoleAdmin}}}
}

func joins(user thread.UserID, role thread.Role) thread.Event {
	return thread.MemberAdded{Member: thread.Member{ID: kit.NewID[thread.Member](), User: user, Role: role}}
}

// says returns a message whose id has the time at, so that the ids' order can differ from that of posting.
func says(at int64, text string) thread.MessagePosted {
	return thread.MessagePosted{Message: thread.Message{ID: ident.New[thread.Message](time.UnixMilli(at), [10]byte{}), Sender: ada, Text: thread.RecordedText(text)}}
}

func edits(posted thread.MessagePosted, text string) thread.Event {
	posted.Message.Text = thread.RecordedText(text)
	return thread.MessageEdited(posted)
}

func TestMessagesOfAVersionAreInTheOrderOfPosting(t *testing.T) {
	events := []thread.Event{created()}
	for i := range 10 {
		events = append(events, says(int64(100-i), "hello"))
	}
	third := says(98, "hello")
	events = append(events, edits(third, "bye"), edits(third, "hello"))
	p := happen(t, sqlite(t), events...)
	if diff := cmp.Diff(p.view(13), seen(t, p.history(), p.viewer(ada), p.id, 13), kit.ByValue(), cmpopts.EquateEmpty()); diff != "" {
		t.Error("(-want +got):\n" + diff)
	}
}

func TestWhoMaySeeHistory(t *testing.T) {
	gateway := sqlite(t)
	alive := happen(t, gateway, created(), joins(bob, thread.RoleMember), says(1, "hello"))
	deleted := happen(t, gateway, created(), joins(bob, thread.RoleMember), thread.Deleted{})
	left := happen(t, gateway, created(), joins(bob, thread.RoleAdmin), thread.MemberRemoved{Member: kit.NewID[thread.Member](), User: ada})
	promoted := happen(t, gateway, created(), joins(bob, thread.RoleMember), thread.MemberRoleChanged{Member: kit.NewID[thread.Member](), User: bob, Role: thread.RoleAdmin})
	for about, c := range map[string]struct {
		at     *past
		viewer query.Viewer
		want   error
	}{
		"an Admin":                         {alive, alive.viewer(ada), nil},
		"a Member":                         {alive, alive.viewer(bob), thread.ErrNotAdmin},
		"a stranger":                       {alive, alive.viewer(eve), thread.ErrThreadNotFound},
		"another tenant":                   {alive, query.Viewer{User: ada}, thread.ErrThreadNotFound},
		"the Admin of a deleted thread":    {deleted, deleted.viewer(ada), nil},
		"the Member of a deleted thread":   {deleted, deleted.viewer(bob), thread.ErrNotAdmin},
		"a stranger to a deleted thread":   {deleted, deleted.viewer(eve), thread.ErrThreadNotFound},
		"an Admin who has left":            {left, left.viewer(ada), thread.ErrThreadNotFound},
		"the Admin who has stayed":         {left, left.viewer(bob), nil},
		"a Member who has become an Admin": {promoted, promoted.viewer(bob), nil},
		"an unknown thread":                {&past{gateway: gateway, id: kit.NewID[thread.Thread]()}, query.Viewer{User: ada}, thread.ErrThreadNotFound},
	} {
		t.Run(about, func(t *testing.T) {
			history := c.at.history()
			page, err := history.Entries(t.Context(), c.viewer, c.at.id, query.Range{Limit: 10})
			if !errors.Is(err, c.want) || err == nil && len(page.Items) != len(c.at.events) {
				t.Errorf("history: %d events, %v, want %v", len(page.Items), err, c.want)
			}
			state, err := history.At(t.Context(), c.viewer, c.at.id, 1)
			if !errors.Is(err, c.want) || (err == nil) != (state.Name == "tea") {
				t.Errorf("version 1: %+v, %v, want %v", state, err, c.want)
			}
			var invalid *ident.InvalidError
			for _, version := range []int{-1, 0, len(c.at.events) + 1} {
				if _, err := history.At(t.Context(), c.viewer, c.at.id, version); c.want == nil && !errors.As(err, &invalid) || !errors.Is(err, c.want) && c.want != nil {
					t.Errorf("version %d: %v", version, err)
				}
			}
		})
	}
}

// TestEveryRangeOfTheHistory compares every possible page with the expected one.
func TestEveryRangeOfTheHistory(t *testing.T) {
	const count = 7
	p := happen(t, sqlite(t), append([]thread.Event{created()}, says(1, "a"), says(2, "b"), says(3, "c"), says(4, "d"), says(5, "e"), says(6, "f"))...)
	at := func(seqNr int) (position query.Position) {
		if seqNr > 0 {
			position = query.Position{At: int64(seqNr), ID: "x"}
		}
		return position
	}
	history := p.history()
	for after := range count + 3 {
		for before := range count + 3 {
			for limit := range count + 2 {
				for _, backward := range []bool{false, true} {
					asked := query.Range{After: at(after), Before: at(before), Limit: limit + 1, Backward: backward}
					var want []uint64
					for seqNr := 1; seqNr <= count; seqNr++ {
						if seqNr > after && (before == 0 || seqNr < before) {
							want = append(want, uint64(seqNr))
						}
					}
					if surplus := len(want) - asked.Limit; surplus > 0 && backward {
						want = want[surplus:]
					} else if surplus > 0 {
						want = want[:asked.Limit]
					}
					page, err := history.Entries(t.Context(), p.viewer(ada), p.id, asked)
					if err != nil {
						t.Fatal(err)
					}
					var got []uint64
					for _, entry := range page.Items {
						got = append(got, entry.SeqNr)
					}
					if !slices.Equal(got, want) {
						t.Fatalf("%+v: events %v, want %v", asked, got, want)
					}
					if len(want) > 0 && (page.HasPrevious != (want[0] > 1) || page.HasNext != (want[len(want)-1] < count)) {
						t.Fatalf("%+v: previous %t, next %t of %v", asked, page.HasPrevious, page.HasNext, got)
					}
				}
			}
		}
	}
}

// Events are shown in today's form, even if they were written in an earlier one.
func TestTheHistoryTellsWhatTheJournalHas(t *testing.T) {
	gateway := sqlite(t)
	p := happen(t, gateway, created(), says(1, "hello"))
	page, err := p.history().Entries(t.Context(), p.viewer(ada), p.id, query.Range{Limit: 10})
	if err != nil {
		t.Fatal(err)
	}
	for i, entry := range page.Items {
		if entry.Envelope != p.events[i].Envelope {
			t.Errorf("event %d: %+v, want %+v", i+1, entry.Envelope, p.events[i].Envelope)
		}
	}
	var data struct {
		Message struct{ Text string }
	}
	if err := json.Unmarshal(page.Items[1].Data, &data); err != nil || data.Message.Text != "hello" || page.Items[1].Type != "ThreadMessagePosted" {
		t.Errorf("%s %s: %v", page.Items[1].Type, page.Items[1].Data, err)
	}
}

// An unreadable event blocks commands but must not block history: it is shown as stored.
func TestTheHistoryOfAThreadWithAnUnreadableEvent(t *testing.T) {
	for _, stored := range []struct{ payload, name, data string }{
		{"{\"type\":\"ThreadFolded\",\n \"corners\":4, \"client_ip\": \"192.0.2.7\"}", "ThreadFolded", `{"type":"ThreadFolded","corners":4}`},
		{`not JSON`, "", `"not JSON"`},
	} {
		showsAnUnreadableEvent(t, happen(t, sqlite(t), created(), says(1, "hello")), stored.payload, stored.name, stored.data)
	}
}

// showsAnUnreadableEvent checks that the history ends with an unreadable event: who is an Admin after it is unknown.
func showsAnUnreadableEvent(t *testing.T, p *past, payload, name, data string) {
	t.Helper()
	for seqNr := uint64(3); seqNr <= 4; seqNr++ {
		write := es.Append{ID: p.key(), ExpectedVersion: seqNr - 1, Entries: []es.Entry{
			{SeqNr: seqNr, EventID: kit.NewID[thread.Event]().String(), OccurredAt: time.UnixMilli(1), Payload: []byte(payload)},
		}}
		if err := p.gateway.Append(t.Context(), write); err != nil {
			t.Fatal(err)
		}
	}
	page, err := p.history().Entries(t.Context(), p.viewer(ada), p.id, query.Range{Limit: 10})
	if err != nil || len(page.Items) != 3 || page.HasNext {
		t.Fatalf("%+v, %v", page, err)
	}
	if got := page.Items[2]; got.SeqNr != 3 || got.Type != name || string(got.Data) != data {
		t.Errorf("%+v", got)
	}
	if diff := cmp.Diff(p.view(2), seen(t, p.history(), p.viewer(ada), p.id, 2), kit.ByValue(), cmpopts.EquateEmpty()); diff != "" {
		t.Error("before it (-want +got):\n" + diff)
	}
	if _, err := p.history().At(t.Context(), p.viewer(ada), p.id, 3); err == nil {
		t.Error("a version with an unreadable event was shown")
	}
}

// counting counts the events that are read.
type counting struct {
	es.Store
	read int
}

func (c *counting) Entries(ctx context.Context, id es.AggregateID, after, upTo uint64) iter.Seq2[es.Entry, error] {
	return c.counted(c.Store.Entries(ctx, id, after, upTo))
}

func (c *counting) EntriesAt(ctx context.Context, id es.AggregateID, seqNrs []uint64) iter.Seq2[es.Entry, error] {
	return c.counted(c.Store.EntriesAt(ctx, id, seqNrs))
}

func (c *counting) counted(entries iter.Seq2[es.Entry, error]) iter.Seq2[es.Entry, error] {
	return func(yield func(es.Entry, error) bool) {
		for entry, err := range entries {
			c.read++
			if !yield(entry, err) {
				return
			}
		}
	}
}

// The cost of an answer depends on the page and on the distance of the version from a snapshot, not on the thread's
// size.
func TestAVersionIsReadFromTheSnapshotBeforeIt(t *testing.T) {
	const messages, snapshotAt = 3000, 2000
	page := 10
	p := long(t, messages, snapshotAt)
	p.snapshot(t, messages)
	counted := &counting{Store: p.gateway}
	p.gateway = counted
	history := p.history()
	for _, version := range []int{snapshotAt, snapshotAt + 7, messages + 1} {
		counted.read = 0
		state, err := history.At(t.Context(), p.viewer(ada), p.id, version)
		if err != nil {
			t.Fatal(err)
		}
		last := ident.New[thread.Message](time.UnixMilli(snapshotAt/2), [10]byte{}).String()
		got, err := state.Messages(t.Context(), &page, &last, nil)
		if err != nil || len(got) != page || got[0].Message.ID != ident.New[thread.Message](time.UnixMilli(snapshotAt/2+1), [10]byte{}) {
			t.Fatalf("version %d: %d messages, %v", version, len(got), err)
		}
		if most := page + 7 + 1; counted.read > most {
			t.Errorf("version %d: %d events were read, want %d at most", version, counted.read, most)
		}
	}
	// Who goes on from a version reads only the events after it.
	for version := 1000; version <= 1003; version++ {
		counted.read = 0
		state, err := history.At(t.Context(), p.viewer(ada), p.id, version)
		if err != nil {
			t.Fatal(err)
		}
		if version > 1000 && counted.read > 1 {
			t.Errorf("version %d: %d events were read", version, counted.read)
		}
		got, err := state.Messages(t.Context(), nil, nil, &page)
		if err != nil || len(got) != page || got[page-1].Message.ID != ident.New[thread.Message](time.UnixMilli(int64(version-1)), [10]byte{}) {
			t.Fatalf("version %d ends with %d messages, %v", version, len(got), err)
		}
	}
	counted.read = 0
	if _, err := history.Entries(t.Context(), p.viewer(ada), p.id, query.Range{After: query.Position{At: snapshotAt, ID: "x"}, Limit: page}); err != nil || counted.read > page {
		t.Errorf("%d events were read for a page of %d: %v", counted.read, page, err)
	}
}

// long is a thread of many messages, with a snapshot at a version.
func long(t testing.TB, messages, snapshotAt int) *past {
	t.Helper()
	p := happen(t, sqlite(t), created())
	var posted []thread.Event
	for i := range messages {
		posted = append(posted, says(int64(i+1), "hello"))
	}
	p.write(t, posted...)
	p.snapshot(t, snapshotAt)
	return p
}

// snapshot saves a snapshot of a version.
func (p *past) snapshot(t testing.TB, version int) {
	t.Helper()
	threads := es.NewRepository(eventjson.Threads(), p.gateway, es.Settings{})
	state, err := threads.At(t.Context(), p.key(), uint64(version))
	if err == nil {
		err = threads.SaveSnapshot(t.Context(), p.key(), state)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// BenchmarkThreadAt reads a version of a thread of 100,000 messages, with a snapshot 50 events before it and an empty
// cache.
func BenchmarkThreadAt(b *testing.B) {
	const messages = 100_000
	p := long(b, messages, messages-1000)
	p.snapshot(b, messages-50)
	for b.Loop() {
		state, err := p.history().At(b.Context(), p.viewer(ada), p.id, messages-950)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := state.Messages(b.Context(), nil, nil, nil); err != nil {
			b.Fatal(err)
		}
	}
}
