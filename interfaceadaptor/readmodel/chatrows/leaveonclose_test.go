package chatrows_test

import (
	"context"
	"errors"
	"fmt"
	mathrand "math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"example.com/threads/domain/account"
	"example.com/threads/domain/ident"
	"example.com/threads/domain/thread"
	"example.com/threads/domain/writing"
	"example.com/threads/es"
	"example.com/threads/es/database"
	"example.com/threads/es/migration"
	"example.com/threads/es/process"
	"example.com/threads/es/projection"
	"example.com/threads/es/rowstore"
	"example.com/threads/es/sqlstore"
	"example.com/threads/interfaceadaptor/eventjson"
	"example.com/threads/interfaceadaptor/readmodel/chatrows"
	"example.com/threads/tests/chattest"
	"example.com/threads/tests/kit"
	"example.com/threads/tests/kit/feed"
	"example.com/threads/tests/readmodeltest"
	"example.com/threads/usecase/chat"
)

// leaving is the process manager as an updater runs it.
func leaving(t *testing.T, db *readmodeltest.Database, events es.Journal) feed.Process {
	t.Helper()
	return feed.NewProcess(t, db.DB, chat.LeaveOnClose, events, func(box *process.Outbox) []projection.Handler { return chatrows.LeaveOnCloseHandlers(box) })
}

// happened returns the records of an aggregate's events, starting with number 1. The first events of a thread occur at
// noon, those of accounts in the afternoon, and later events of threads in the evening.
func happened[E any](t *testing.T, codec *es.Codec[E], tenant es.Tenant, id string, atNoon int, events ...E) []projection.Record {
	t.Helper()
	var records []projection.Record
	for i, event := range events {
		at := noon
		if i >= atNoon {
			at = at.Add(map[string]time.Duration{thread.AggregateType: 6 * time.Hour, account.AggregateType: 3 * time.Hour}[codec.Type()])
		}
		eventID := ulidAt(at)
		recorded := es.Recorded[E]{Event: event, Envelope: es.Envelope{
			EventID: eventID, AggregateType: codec.Type(), AggregateID: id, SeqNr: uint64(i + 1), OccurredAt: time.Unix(1700000000, 0).UTC(),
			Caller: es.Caller{Tenant: tenant, Executor: kit.NewID[ident.UserAccount]().String(), CorrelationID: "of-" + eventID},
		}}
		records = append(records, feed.Record(t, codec, recorded))
	}
	return records
}

func ulidAt(at time.Time) string {
	id := kit.NewID[thread.Event]().ULID()
	return ident.New[thread.Event](at, [10]byte(id[6:])).String()
}

var noon = time.Unix(1700000000, 0).UTC()

func eventID(t *testing.T, record projection.Record) string {
	t.Helper()
	_, rest, _ := strings.Cut(string(record.Payload), `"id":"`)
	id, _, found := strings.Cut(rest, `"`)
	if !found {
		t.Fatalf("no id in %s", record.Payload)
	}
	return id
}

// scene is a thread that ada created and bob joined, and bob's account, which is closed in the afternoon.
type scene struct {
	tenant          es.Tenant
	thread, account []projection.Record
	id              thread.ID
	bob             ident.UserID
}

func newScene(t *testing.T, tenant es.Tenant, atNoon int, more ...thread.Event) scene {
	t.Helper()
	s := scene{tenant: tenant, id: kit.NewID[thread.Thread](), bob: kit.NewID[ident.UserAccount]()}
	adaIn := thread.Member{ID: kit.NewID[thread.Member](), User: kit.NewID[ident.UserAccount](), Role: thread.RoleAdmin}
	bobIn := thread.Member{ID: kit.NewID[thread.Member](), User: s.bob, Role: thread.RoleMember}
	events := []thread.Event{thread.Created{Name: writing.RecordedName("tea"), Members: []thread.Member{adaIn}}, thread.MemberAdded{Member: bobIn}}
	for _, event := range more {
		if _, leaves := event.(thread.MemberRemoved); leaves {
			event = thread.MemberRemoved{Member: bobIn.ID, User: s.bob}
		}
		if _, comes := event.(thread.MemberAdded); comes {
			event = thread.MemberAdded{Member: thread.Member{ID: kit.NewID[thread.Member](), User: s.bob, Role: thread.RoleMember}}
		}
		events = append(events, event)
	}
	s.thread = happened(t, eventjson.Threads().Events, tenant, s.id.String(), atNoon, events...)
	s.account = happened(t, eventjson.Accounts().Events, tenant, s.bob.String(), 1, account.Event(account.Registered{Name: writing.RecordedName("Bob")}), account.Event(account.Closed{}))
	return s
}

// leaves is the command that makes bob leave. foundBy is the event that was projected last; because is its cause.
func (s scene) leaves(t *testing.T, foundBy, because projection.Record) process.Command {
	t.Helper()
	cause := eventID(t, because)
	return process.Command{
		Target: chat.ThreadKey(s.tenant, s.id), Name: "thread.Withdraw", EventID: eventID(t, foundBy),
		Executor: s.bob.String(), CausationID: cause, CorrelationID: "of-" + cause,
	}
}

func TestWhoClosesLeaves(t *testing.T) {
	readmodeltest.Each(t, func(t *testing.T, db *readmodeltest.Database) {
		acme, globex := db.World(t, "acme").Tenant, db.World(t, "globex").Tenant
		processManager := leaving(t, db, nil)
		removed, added := thread.MemberRemoved{}, thread.MemberAdded{}
		for _, c := range []struct {
			about  string
			atNoon int // the thread's events before the account is closed
			more   []thread.Event
			run    func(s scene, rule feed.ProcessRule)
		}{
			{"a member's account is closed", 9, nil, func(s scene, rule feed.ProcessRule) {
				rule.Given(s.thread...).When(s.account...).Then(s.leaves(t, s.account[1], s.account[1]))
			}},
			{"a member's account is closed, and its events come first", 9, nil, func(s scene, rule feed.ProcessRule) {
				rule.Given(s.account...).When(s.thread...).Then(s.leaves(t, s.thread[1], s.account[1]))
			}},
			{"both in one batch", 9, nil, func(s scene, rule feed.ProcessRule) {
				rule.When(slices.Concat(s.thread, s.account)...).Then(s.leaves(t, s.thread[1], s.account[1]))
			}},
			{"both in one batch, in the other order", 9, nil, func(s scene, rule feed.ProcessRule) {
				rule.When(slices.Concat(s.account, s.thread)...).Then(s.leaves(t, s.thread[1], s.account[1]))
			}},
			{"a closed account joins", 1, nil, func(s scene, rule feed.ProcessRule) {
				rule.Given(s.account...).When(s.thread...).Then(s.leaves(t, s.thread[1], s.thread[1]))
			}},
			{"a closed account joins, in one batch", 1, nil, func(s scene, rule feed.ProcessRule) {
				rule.When(slices.Concat(s.account, s.thread)...).Then(s.leaves(t, s.thread[1], s.thread[1]))
			}},
			{"a closed account joins, and the joining comes first", 1, nil, func(s scene, rule feed.ProcessRule) {
				rule.Given(s.thread...).When(s.account...).Then(s.leaves(t, s.account[1], s.account[1]))
			}},
			{"everything twice", 9, nil, func(s scene, rule feed.ProcessRule) {
				rule.When(s.thread...).When(s.account...).When(s.thread...).When(s.account...).Then(s.leaves(t, s.account[1], s.account[1]))
			}},
			{"all events again, later", 9, nil, func(s scene, rule feed.ProcessRule) {
				rule.Given(s.thread...).Given(s.account...).When(s.thread...).When(s.account...).Then()
			}},
			{"only one of two accounts is closed", 9, nil, func(s scene, rule feed.ProcessRule) {
				rule.Given(s.thread...).When(s.account[:1]...).Then()
			}},
			{"the member had left before, which a restore may undo", 9, []thread.Event{removed}, func(s scene, rule feed.ProcessRule) {
				rule.Given(s.thread...).When(s.account...).Then(s.leaves(t, s.account[1], s.account[1]))
			}},
			{"the member had left before, in two batches", 9, []thread.Event{removed}, func(s scene, rule feed.ProcessRule) {
				rule.Given(s.thread[:2]...).Given(s.thread[2:]...).When(s.account...).Then(s.leaves(t, s.account[1], s.account[1]))
			}},
			{"the member came back", 9, []thread.Event{removed, added}, func(s scene, rule feed.ProcessRule) {
				rule.Given(s.thread...).When(s.account...).Then(s.leaves(t, s.account[1], s.account[1]))
			}},
			{"the member came back, in several batches", 9, []thread.Event{removed, added}, func(s scene, rule feed.ProcessRule) {
				rule.Given(s.thread[:2]...).Given(s.thread[2:]...).When(s.account...).Then(s.leaves(t, s.account[1], s.account[1]))
			}},
			{"a closed account is added again", 3, []thread.Event{removed, added}, func(s scene, rule feed.ProcessRule) {
				rule.Given(s.thread[:3]...).Given(s.account...).When(s.thread[3:]...).Then(s.leaves(t, s.thread[3], s.thread[3]))
			}},
			{"a deleted thread, which a restore may undo", 9, []thread.Event{thread.Deleted{}}, func(s scene, rule feed.ProcessRule) {
				rule.Given(s.thread...).When(s.account...).Then(s.leaves(t, s.account[1], s.account[1]))
			}},
			{"messages and names change nothing", 9, []thread.Event{
				thread.Renamed{Name: writing.RecordedName("coffee")},
				thread.MessagePosted{Message: thread.Message{ID: kit.NewID[thread.Message](), Sender: kit.NewID[ident.UserAccount](), Text: thread.RecordedText("x")}},
			}, func(s scene, rule feed.ProcessRule) {
				rule.Given(s.thread...).When(s.account...).Then(s.leaves(t, s.account[1], s.account[1]))
			}},
		} {
			s := newScene(t, acme, c.atNoon, c.more...)
			// The same user account in another tenant, in a thread with the same id, is a different account.
			somebodyElse := happened(t, eventjson.Threads().Events, globex, s.id.String(), 1, thread.Event(
				thread.Created{Name: writing.RecordedName("tea"), Members: []thread.Member{{ID: kit.NewID[thread.Member](), User: s.bob, Role: thread.RoleAdmin}}}))
			c.run(s, processManager.Rule(t, c.about).Given(somebodyElse...))
		}
	})
}

// After the event store was restored, a member whose joining was lost may join again.
func TestWhoJoinsAgainAfterARestoreIsKnown(t *testing.T) {
	readmodeltest.Each(t, func(t *testing.T, db *readmodeltest.Database) {
		s := newScene(t, db.World(t, "acme").Tenant, 9)
		processManager := leaving(t, db, nil)
		processManager.Project(t, s.thread...)
		store, err := rowstore.New(db.DB, chat.LeaveOnClose)
		if err != nil {
			t.Fatal(err)
		}
		err = store.Change(t.Context(), func(ctx context.Context, tx projection.Tx) error {
			if _, err := tx.Load(ctx, []es.AggregateID{s.thread[0].Key}); err != nil {
				return err
			}
			return tx.Save(ctx, projection.Changes{Positions: map[es.AggregateID]projection.Position{s.thread[0].Key: {Version: 1}}})
		})
		if err != nil {
			t.Fatal(err)
		}
		processManager.Project(t, s.thread[1:]...)
		if parked, err := store.CountParked(t.Context()); parked != 0 || err != nil {
			t.Errorf("%d threads are parked, %v", parked, err)
		}
		processManager.Project(t, s.account...)
		if commands := processManager.Commands(t); len(commands) != 1 {
			t.Errorf("the commands are %+v", commands)
		}
	})
}

// Two updaters, or two shards, at the same time: one projects the events of the thread, the other those of the account.
func TestWhoJoinsAndClosesAtTheSameTimeLeavesOnce(t *testing.T) {
	readmodeltest.Each(t, func(t *testing.T, db *readmodeltest.Database) {
		tenant := db.World(t, "acme").Tenant
		const rounds = 40
		want := map[es.AggregateID]string{} // the member that must leave, by thread
		first, second := leaving(t, db, nil), leaving(t, db, nil)
		for range rounds {
			s := newScene(t, tenant, 2)
			want[chat.ThreadKey(tenant, s.id)] = s.bob.String()
			var both sync.WaitGroup
			both.Go(func() { first.Project(t, s.thread...) })
			both.Go(func() { second.Project(t, s.account...) })
			both.Wait()
		}
		for _, sent := range first.Commands(t) {
			if want[sent.Target] != sent.Executor {
				t.Errorf("%+v was sent twice, or without a cause", sent)
			}
			delete(want, sent.Target)
		}
		if len(want) > 0 {
			t.Errorf("in %d rounds %d commands were missed", rounds, len(want))
		}
	})
}

// world is the write side on SQLite, with the state of its journal.
type world struct {
	t        *testing.T
	threads  *chat.ThreadCommands
	accounts *es.Service[account.Account, account.Command, account.Event]
	journal  es.Journal
	heads    map[es.AggregateID]uint64 // the aggregates' versions in the records read so far
	old      []projection.Record
}

func newWorld(t *testing.T) *world {
	t.Helper()
	db, err := database.Open(t.Context(), "sqlite:"+filepath.Join(t.TempDir(), "events.db"), database.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := migration.Up(t.Context(), db, sqlstore.Schema()); err != nil {
		t.Fatal(err)
	}
	gateway, err := sqlstore.New(t.Context(), db, sqlstore.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	w := &world{
		t: t, journal: gateway, heads: map[es.AggregateID]uint64{},
		threads:  es.NewService(eventjson.Threads(), gateway, es.Settings{}),
		accounts: es.NewService(eventjson.Accounts(), gateway, es.Settings{}),
	}
	t.Cleanup(func() {
		ctx := context.WithoutCancel(t.Context())
		for _, close := range []func(context.Context) error{w.threads.Close, w.accounts.Close, gateway.Close} {
			if err := close(ctx); err != nil {
				t.Error(err)
			}
		}
		_ = db.Close()
	})
	return w
}

// on sends a command and reports whether the domain accepted it.
func (w *world) on(tenant es.Tenant, id thread.ID, executor ident.UserID, c thread.Command) (es.AggregateID, bool) {
	w.t.Helper()
	result, err := w.threads.Handle(w.t.Context(), chattest.Request(es.Caller{Tenant: tenant, Executor: executor.String()}, id, c))
	if kind := es.KindOf(err); err != nil && kind != es.Conflict && kind != es.Forbidden && kind != es.NotFound {
		w.t.Fatal(err)
	}
	if err == nil {
		w.heads[result.Key] += 0
	}
	return result.Key, err == nil
}

func (w *world) account(tenant es.Tenant, user ident.UserID, c account.Command) {
	w.t.Helper()
	caller := es.Caller{Tenant: tenant, Executor: user.String(), CorrelationID: "closing-" + user.String()}
	result, err := w.accounts.Handle(w.t.Context(), es.Request[account.Command]{Caller: caller, ID: user.String(), Command: c, Name: account.CommandName(c)})
	if err == nil {
		w.heads[result.Key] += 0
	}
}

// fresh returns the records of the events since the last call.
func (w *world) fresh() []projection.Record {
	w.t.Helper()
	var records []projection.Record
	for key, after := range w.heads {
		head, err := w.journal.Head(w.t.Context(), key)
		if err != nil {
			w.t.Fatal(err)
		}
		for entry, err := range w.journal.Entries(w.t.Context(), key, after, head.Version) {
			if err != nil {
				w.t.Fatal(err)
			}
			records = append(records, projection.Record{Key: key, SeqNr: entry.SeqNr, Payload: entry.Payload})
		}
		w.heads[key] = head.Version
	}
	w.old = append(w.old, records...)
	return records
}

// After the event store was restored to an earlier time, commands for lost events must change nothing.
func TestWhatARestoreHasUndoneIsNotSent(t *testing.T) {
	w, tenant := newWorld(t), es.Tenant("acme")
	send := chat.SendWithdrawals(w.threads, w.accounts.Repository)
	ada := kit.NewID[ident.UserAccount]()
	w.account(tenant, ada, account.Register{Name: writing.RecordedName("Ada")})
	key, _ := w.on(tenant, thread.ID{}, ada, thread.Create{Executor: ada, Name: writing.RecordedName("tea")})
	withdraw := func(from es.AggregateID) {
		t.Helper()
		caller := es.Caller{Tenant: tenant, Executor: ada.String()}
		if err := send(t.Context(), caller, kit.NewID[thread.Event]().String(), chat.Withdrawal(ada, from, ada.String(), chat.Closing{})); err != nil {
			t.Error(err)
		}
	}
	members := func() int {
		t.Helper()
		state, err := w.threads.Reload(t.Context(), key)
		if err != nil {
			t.Fatal(err)
		}
		return len(state.Value.Memento().Members)
	}
	withdraw(key)
	if members() != 1 {
		t.Error("an open account has left")
	}
	w.account(tenant, ada, account.Close{})
	withdraw(chat.ThreadKey(tenant, kit.NewID[thread.Thread]()))
	withdraw(key)
	if members() != 0 {
		t.Error("a closed account has not left")
	}
}

// The projection gets the records of random events out of order, twice, or in two updaters at once, and sending is
// interrupted anywhere. In the end no closed account may be in a thread, and each must have left once per reason.
func TestNoClosedAccountStays(t *testing.T) {
	readmodeltest.Each(t, func(t *testing.T, db *readmodeltest.Database) {
		random := mathrand.New(mathrand.NewPCG(7, 7))
		w := newWorld(t)
		updaters := []feed.Process{leaving(t, db, w.journal), leaving(t, db, w.journal)}
		send := chat.SendWithdrawals(w.threads, w.accounts.Repository)
		var users []ident.UserID
		for range 8 {
			users = append(users, kit.NewID[ident.UserAccount]())
		}
		someone := func() ident.UserID { return users[random.IntN(len(users))] }
		tenants := []es.Tenant{db.World(t, "acme").Tenant, db.World(t, "globex").Tenant}
		closed := map[es.Tenant]map[ident.UserID]bool{tenants[0]: {}, tenants[1]: {}}
		var threads []es.AggregateID

		follow := func(breaks bool) int {
			records := w.fresh()
			for range len(w.old) / 10 {
				records = append(records, w.old[random.IntN(len(w.old))])
			}
			random.Shuffle(len(records), func(i, j int) { records[i], records[j] = records[j], records[i] })
			var both sync.WaitGroup
			half := len(records) / 2
			both.Go(func() { updaters[0].Project(t, records[:half]...) })
			both.Go(func() { updaters[1].Project(t, records[half:]...) })
			both.Wait()
			sent := 0
			for _, updater := range updaters {
				ctx, kill := context.WithCancel(t.Context())
				sending := send
				broken := breaks && random.IntN(2) == 0
				if broken { // killed after sending a command and before removing it
					sending = func(_ context.Context, caller es.Caller, key string, command process.Command) error {
						defer kill()
						return errors.Join(send(t.Context(), caller, key, command), context.Canceled)
					}
				}
				n, err := updater.Outbox.SendDue(ctx, sending)
				kill()
				if err != nil && !broken {
					t.Fatal(err)
				}
				sent += n
			}
			return len(records) + sent
		}

		for range 25 {
			for range 20 {
				tenant := tenants[random.IntN(2)]
				if len(threads) < 10 || random.IntN(10) == 0 {
					who := someone()
					if key, done := w.on(tenant, thread.ID{}, who, thread.Create{Executor: who, Name: writing.RecordedName("tea")}); done {
						threads = append(threads, key)
					}
					continue
				}
				key := threads[random.IntN(len(threads))]
				who, other := someone(), someone()
				wanted := []thread.Command{
					thread.AddMember{Executor: who, User: other, Role: thread.RoleMember}, thread.AddMember{Executor: who, User: other, Role: thread.RoleAdmin},
					thread.RemoveMember{Executor: who, User: other}, thread.Rename{Executor: who, Name: writing.RecordedName(fmt.Sprint(random.Int()))},
				}
				w.on(key.Tenant, chat.ThreadID(key), who, wanted[random.IntN(len(wanted))])
			}
			if tenant, who := tenants[random.IntN(2)], someone(); len(closed[tenant]) < len(users)-2 && random.IntN(2) == 0 {
				closed[tenant][who] = true
				w.account(tenant, who, account.Register{Name: writing.RecordedName("x")})
				w.account(tenant, who, account.Close{})
			}
			follow(true)
		}
		for round := 0; ; round++ {
			before := len(w.old)
			follow(false)
			waiting, failing, err := updaters[0].Outbox.Count(t.Context())
			if err != nil || failing > 0 || round > 50 {
				t.Fatalf("%d commands fail, %v, after %d rounds", failing, err, round)
			}
			if waiting == 0 && len(w.old) == before && round > 1 {
				break
			}
		}

		left := map[string]int{}
		for _, record := range w.old {
			recorded, err := eventjson.Threads().Events.Decode(record.Payload)
			if err != nil || recorded.Source != "process/leave-on-close" {
				continue
			}
			if _, promotes := recorded.Event.(thread.MemberRoleChanged); !promotes {
				left[recorded.CausationID+" "+record.Key.ID]++
			}
		}
		for reason, times := range left {
			if times > 1 {
				t.Errorf("%s: the member left %d times", reason, times)
			}
		}
		stayed, members := 0, 0
		for _, key := range threads {
			state, err := w.threads.Reload(t.Context(), key)
			if err != nil {
				t.Fatal(err)
			}
			for _, member := range state.Value.Memento().Members {
				members++
				if closed[key.Tenant][member.User] {
					stayed++
				}
			}
		}
		if stayed > 0 || len(left) < 5 || members < 5 {
			t.Errorf("%d closed accounts are still in threads; %d withdrew, %d members are left", stayed, len(left), members)
		}
	})
}

// Most events of threads are messages. They do not change membership, so they must not even be decoded.
func TestLeaveOnCloseDecodesNoMessages(t *testing.T) {
	readmodeltest.Each(t, func(t *testing.T, db *readmodeltest.Database) {
		s := newScene(t, db.World(t, "acme").Tenant, 1)
		chatKey, seqNr := s.thread[0].Key, uint64(len(s.thread))
		rule := leaving(t, db, nil).Rule(t, "a member's account is closed after many messages").Given(s.thread...)
		for _, name := range []string{"ThreadMessagePosted", "ThreadMessageEdited", "ThreadMessageDeleted"} {
			seqNr++
			rule = rule.Given(projection.Record{Key: chatKey, SeqNr: seqNr, Payload: fmt.Appendf(nil, `{"type":%q, not even JSON`, name)})
		}
		store, err := rowstore.New(db.DB, chat.LeaveOnClose)
		if err != nil {
			t.Fatal(err)
		}
		versions, err := store.Versions(t.Context(), []es.AggregateID{chatKey})
		if err != nil || versions[chatKey] != seqNr {
			t.Errorf("its position is %d of %d, %v", versions[chatKey], seqNr, err)
		}
		if parked, err := store.CountParked(t.Context()); err != nil || parked != 0 {
			t.Errorf("%d parked, %v", parked, err)
		}
		rule.When(s.account...).Then(s.leaves(t, s.account[1], s.account[1]))
	})
}
