package repository_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"reflect"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.com/threads/domain/ident"
	"example.com/threads/domain/thread"
	"example.com/threads/domain/writing"
	"example.com/threads/interfaceadaptor/chatstore"
	"example.com/threads/interfaceadaptor/eventstore"
	"example.com/threads/interfaceadaptor/repository"
	"example.com/threads/tests/dynamodbtest"
	"example.com/threads/usecase"
	"example.com/threads/usecase/chat"
	"example.com/threads/usecase/command"
)

// watched is a real gateway that counts calls. It can delay snapshots.
type watched struct {
	eventstore.EventPersistenceGateway
	heads, entries, saved atomic.Int64
	hold                  chan struct{} // if not nil, SaveSnapshot waits until it is closed
}

func (w *watched) Head(ctx context.Context, id eventstore.AggregateID) (eventstore.Head, error) {
	w.heads.Add(1)
	return w.EventPersistenceGateway.Head(ctx, id)
}

func (w *watched) Entries(ctx context.Context, id eventstore.AggregateID, after, upTo uint64) iter.Seq2[eventstore.Entry, error] {
	w.entries.Add(int64(upTo - after))
	return w.EventPersistenceGateway.Entries(ctx, id, after, upTo)
}

func (w *watched) SaveSnapshot(ctx context.Context, id eventstore.AggregateID, snapshot eventstore.Snapshot) error {
	if w.hold != nil {
		select {
		case <-w.hold:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	err := w.EventPersistenceGateway.SaveSnapshot(ctx, id, snapshot)
	w.saved.Add(1)
	return err
}

func open(t *testing.T, gateway eventstore.EventPersistenceGateway, every uint64) *chatstore.ThreadRepository {
	threads := chatstore.NewThreadRepository(gateway, repository.Settings{SnapshotEvery: every, Logger: slog.New(slog.NewTextHandler(t.Output(), nil))})
	t.Cleanup(func() {
		if err := threads.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	return threads
}

var ada = newID[ident.UserAccount]()

func newID[T any]() ident.Of[T] {
	var entropy [10]byte
	next := serial.Add(1)
	for i := range 8 {
		entropy[9-i] = byte(next >> (8 * i))
	}
	return ident.New[T](time.Now(), entropy)
}

var serial atomic.Uint64

func newKey(t *testing.T) usecase.Key {
	tenant, err := usecase.ParseTenant("acme")
	if err != nil {
		t.Fatal(err)
	}
	return chat.ThreadKey(tenant, newID[thread.Thread]())
}

func record(key usecase.Key, seqNr uint64, event thread.Event) usecase.Recorded[thread.Event] {
	return usecase.Recorded[thread.Event]{
		Envelope: usecase.Envelope{
			EventID: newID[thread.Event]().String(), AggregateType: key.Type, AggregateID: key.ID, SeqNr: seqNr, OccurredAt: time.Now().UTC().Truncate(time.Microsecond),
			CommandID: newID[thread.Command]().String(), Caller: usecase.Caller{Tenant: key.Tenant, Executor: ada.String()},
		},
		Event: event,
	}
}

type threadState = command.State[thread.Thread]

// writeOf returns the write of an event that was decided on state.
func writeOf(state threadState, event usecase.Recorded[thread.Event], receipts ...command.Receipt) command.Write[thread.Thread, thread.Event] {
	return command.Write[thread.Thread, thread.Event]{
		Before: state.Version, Events: []usecase.Recorded[thread.Event]{event}, Receipts: receipts,
		After: threadState{Version: state.Version + 1, Value: state.Value.Apply(event.Event)},
	}
}

// create saves a new thread of ada's; post saves another message of hers.
func create(t *testing.T, threads *chatstore.ThreadRepository, key usecase.Key) threadState {
	t.Helper()
	event := thread.Created{Name: writing.RecordedName("tea"), Members: []thread.Member{{ID: newID[thread.Member](), User: ada, Role: thread.RoleAdmin}}}
	return save(t, threads, key, threadState{}, event)
}

func post(t *testing.T, threads *chatstore.ThreadRepository, key usecase.Key, state threadState) threadState {
	t.Helper()
	text := thread.RecordedText(fmt.Sprintf("message %d", state.Version+1))
	return save(t, threads, key, state, thread.MessagePosted{Message: thread.Message{ID: newID[thread.Message](), Sender: ada, Text: text}})
}

func save(t *testing.T, threads *chatstore.ThreadRepository, key usecase.Key, state threadState, event thread.Event) threadState {
	t.Helper()
	write := writeOf(state, record(key, state.Version+1, event))
	if err := threads.Save(t.Context(), key, write); err != nil {
		t.Fatal(err)
	}
	return write.After
}

func checkState(t *testing.T, want, got threadState) {
	t.Helper()
	if diff := cmp.Diff(want.Value.Memento(), got.Value.Memento(), cmp.AllowUnexported(writing.Name{}, thread.Role{}),
		cmp.Comparer(func(a, b thread.UserID) bool { return a == b }), cmp.Comparer(func(a, b thread.MemberID) bool { return a == b }),
		cmp.Comparer(func(a, b thread.MessageID) bool { return a == b })); diff != "" {
		t.Error("state (-want +got):\n" + diff)
	}
	if got.Version != want.Version {
		t.Errorf("version %d, want %d", got.Version, want.Version)
	}
}

func TestAnotherProcessLoadsWhatWasSaved(t *testing.T) {
	gateway := dynamodbtest.New(t)
	threads, key := open(t, gateway, 10), newKey(t)
	state := create(t, threads, key)
	for range 37 { // three snapshots, and events after the last one
		state = post(t, threads, key, state)
	}
	loaded, err := open(t, gateway, 10).Load(t.Context(), key)
	if err != nil {
		t.Fatal(err)
	}
	checkState(t, state, loaded)
}

func TestAThreadThatIsNotThere(t *testing.T) {
	gateway := dynamodbtest.New(t)
	threads, key := open(t, gateway, 10), newKey(t)
	create(t, threads, key)
	elsewhere := usecase.Key{Type: key.Type, ID: key.ID} // the same id in another tenant
	for _, load := range []func(context.Context, usecase.Key) (threadState, error){threads.Load, threads.Reload} {
		if state, err := load(t.Context(), elsewhere); err != nil || state.Version != 0 {
			t.Errorf("got version %d, %v", state.Version, err)
		}
	}
}

func TestARememberedStateCostsNoRead(t *testing.T) {
	gateway := &watched{EventPersistenceGateway: dynamodbtest.New(t)}
	threads, key := open(t, gateway, 1000), newKey(t)
	state := create(t, threads, key)
	for range 5 {
		state = post(t, threads, key, state)
		loaded, err := threads.Load(t.Context(), key)
		if err != nil || loaded.Version != state.Version {
			t.Fatalf("version %d, %v", loaded.Version, err)
		}
	}
	if gateway.heads.Load() != 0 || gateway.entries.Load() != 0 {
		t.Errorf("%d heads and %d entries were read", gateway.heads.Load(), gateway.entries.Load())
	}
}

func TestAStateThatIsBehind(t *testing.T) {
	gateway := &watched{EventPersistenceGateway: dynamodbtest.New(t)}
	here, elsewhere, key := open(t, gateway, 1000), open(t, gateway, 1000), newKey(t)
	old := create(t, here, key)
	state, err := elsewhere.Load(t.Context(), key)
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		state = post(t, elsewhere, key, state)
	}

	if err := here.Confirm(t.Context(), key, old.Version); !errors.Is(err, command.ErrConflict) {
		t.Errorf("Confirm: %v", err)
	}
	event := record(key, 2, thread.Renamed{Name: writing.RecordedName("coffee")})
	if err := here.Save(t.Context(), key, writeOf(old, event)); !errors.Is(err, command.ErrConflict) {
		t.Errorf("Save: %v", err)
	}
	gateway.entries.Store(0)
	reloaded, err := here.Reload(t.Context(), key)
	if err != nil {
		t.Fatal(err)
	}
	checkState(t, state, reloaded)
	if read := gateway.entries.Load(); read != 3 {
		t.Errorf("%d entries were read to catch up with 3", read)
	}
}

// racing is a gateway that calls a function between the reading of a head and its use.
type racing struct {
	*watched
	meanwhile func()
}

func (r *racing) Head(ctx context.Context, id eventstore.AggregateID) (eventstore.Head, error) {
	head, err := r.watched.Head(ctx, id)
	if meanwhile := r.meanwhile; meanwhile != nil {
		r.meanwhile = nil
		meanwhile()
	}
	return head, err
}

func TestAReloadThatMeetsASaveReadsNothingAgain(t *testing.T) {
	gateway := &racing{watched: &watched{EventPersistenceGateway: dynamodbtest.New(t)}}
	threads, key := open(t, gateway, 1000), newKey(t)
	state := create(t, threads, key)
	for range 5 {
		state = post(t, threads, key, state)
	}
	gateway.meanwhile = func() { state = post(t, threads, key, state) }
	reloaded, err := threads.Reload(t.Context(), key)
	if err != nil {
		t.Fatal(err)
	}
	checkState(t, state, reloaded)
	if read := gateway.entries.Load(); read != 0 {
		t.Errorf("%d entries were read again", read)
	}
}

func TestSnapshotsAreWrittenOffThePath(t *testing.T) {
	gateway := &watched{EventPersistenceGateway: dynamodbtest.New(t), hold: make(chan struct{})}
	threads, key := open(t, gateway, 5), newKey(t)
	state := create(t, threads, key)
	for range 20 { // no snapshot is completed before all of these are
		state = post(t, threads, key, state)
	}
	close(gateway.hold)
	if err := threads.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	id := eventstore.AggregateID{Tenant: key.Tenant.String(), Type: "thread", ULID: key.ID}
	head, err := gateway.Head(t.Context(), id)
	if err != nil || head.Version != 21 || head.SnapshotVersion < 20 {
		t.Errorf("head %+v, %v", head, err)
	}
	if saved := gateway.saved.Load(); saved > 3 {
		t.Errorf("%d snapshots were written although one is enough", saved)
	}
}

// A thread that is too large for the cache, or seldom used, needs snapshots most, because each load replays its events.
func TestAThreadThatIsNotRememberedGetsItsSnapshots(t *testing.T) {
	gateway := &watched{EventPersistenceGateway: dynamodbtest.New(t)}
	const every, events = 5, 41
	threads := chatstore.NewThreadRepository(gateway, repository.Settings{SnapshotEvery: every, CacheBytes: 1, Logger: slog.New(slog.DiscardHandler)})
	key := newKey(t)
	state := create(t, threads, key)
	for state.Version < events {
		state = post(t, threads, key, state)
	}
	if err := threads.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	id := eventstore.AggregateID{Tenant: key.Tenant.String(), Type: "thread", ULID: key.ID}
	head, err := gateway.Head(t.Context(), id)
	if err != nil || head.Version != events || head.SnapshotVersion <= events-every {
		t.Errorf("head %+v, %v", head, err)
	}
	if saved := gateway.saved.Load(); saved > events/every {
		t.Errorf("%d snapshots were written for %d events", saved, events)
	}
}

// A snapshot contains the whole state, so larger states need more events between two snapshots.
func TestLargeStatesGetFewerSnapshots(t *testing.T) {
	for about, bytes := range map[string]uint64{"remembered": 0, "not remembered": 1} {
		t.Run(about, func(t *testing.T) {
			gateway := &watched{EventPersistenceGateway: dynamodbtest.New(t)}
			const events, largest = 200, 32 // events, and those between two snapshots of a thread with so many messages
			threads := chatstore.NewThreadRepository(gateway, repository.Settings{SnapshotEvery: 1, CacheBytes: bytes, Logger: slog.New(slog.DiscardHandler)})
			key := newKey(t)
			state := create(t, threads, key)
			for state.Version < events {
				state = post(t, threads, key, state)
			}
			if err := threads.Close(t.Context()); err != nil {
				t.Fatal(err)
			}
			head, err := gateway.Head(t.Context(), eventstore.AggregateID{Tenant: key.Tenant.String(), Type: "thread", ULID: key.ID})
			if err != nil || head.SnapshotVersion <= events-largest {
				t.Errorf("head %+v, %v", head, err)
			}
			if saved := gateway.saved.Load(); saved > events/4 {
				t.Errorf("%d snapshots were written for %d events", saved, events)
			}
		})
	}
}

func TestACloseGivesUpWhatTakesTooLong(t *testing.T) {
	gateway := &watched{EventPersistenceGateway: dynamodbtest.New(t), hold: make(chan struct{})}
	threads := chatstore.NewThreadRepository(gateway, repository.Settings{SnapshotEvery: 1, Logger: slog.New(slog.DiscardHandler)})
	for range 3 {
		create(t, threads, newKey(t))
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	begun := time.Now()
	if err := threads.Close(ctx); !errors.Is(err, context.DeadlineExceeded) || time.Since(begun) > 10*time.Second {
		t.Errorf("closed after %s with %v", time.Since(begun), err)
	}
	if saved := gateway.saved.Load(); saved != 0 {
		t.Errorf("%d snapshots were written", saved)
	}
}

func TestASnapshotOnRequestShortensTheReplay(t *testing.T) {
	gateway := &watched{EventPersistenceGateway: dynamodbtest.New(t)}
	threads, key := open(t, gateway, 1000), newKey(t)
	state := create(t, threads, key)
	for range 8 {
		state = post(t, threads, key, state)
	}
	if err := threads.SaveSnapshot(t.Context(), key, state); err != nil {
		t.Fatal(err)
	}
	state = post(t, threads, key, state)
	loaded, err := open(t, gateway, 1000).Load(t.Context(), key)
	if err != nil {
		t.Fatal(err)
	}
	checkState(t, state, loaded)
	if read := gateway.entries.Load(); read != 1 {
		t.Errorf("%d entries were read after the snapshot, want 1", read)
	}
}

// An invalid snapshot, or one of another thread, must be skipped.
func TestSnapshotsThatCannotBeUsed(t *testing.T) {
	gateway := dynamodbtest.New(t)
	threads, key, other := open(t, gateway, 1000), newKey(t), newKey(t)
	state := post(t, threads, key, create(t, threads, key))
	create(t, threads, other)
	id := eventstore.AggregateID{Tenant: key.Tenant.String(), Type: "thread", ULID: key.ID}
	if err := gateway.SaveSnapshot(t.Context(), id, eventstore.Snapshot{Version: 2, Payload: []byte(`{"format":99}`)}); err != nil {
		t.Fatal(err)
	}
	loaded, err := open(t, gateway, 1000).Load(t.Context(), key)
	if err != nil {
		t.Fatal(err)
	}
	checkState(t, state, loaded)
}

func TestReceiptsComeBackWhole(t *testing.T) {
	gateway := dynamodbtest.New(t)
	threads, key := open(t, gateway, 1000), newKey(t)
	want := command.Receipt{
		CommandID: newID[thread.Command]().String(), Fingerprint: "print", ExpiresAt: time.Now().Add(time.Hour).Truncate(time.Second),
		Result: command.Result{Key: key, Version: 1, About: map[string]string{"member_id": "a", "message_id": "b"}},
	}
	event := record(key, 1, thread.Created{Name: writing.RecordedName("tea"), Members: []thread.Member{{ID: newID[thread.Member](), User: ada, Role: thread.RoleAdmin}}})
	if err := threads.Save(t.Context(), key, writeOf(threadState{}, event, want)); err != nil {
		t.Fatal(err)
	}
	got, found, err := threads.Receipt(t.Context(), key.Tenant, want.CommandID)
	if err != nil || !found || !reflect.DeepEqual(got.Result, want.Result) || got.Fingerprint != want.Fingerprint {
		t.Errorf("Receipt: %+v, %v, %v", got, found, err)
	}
	again := newKey(t)
	event = record(again, 1, event.Event)
	var handled *command.HandledError
	if err := threads.Save(t.Context(), again, writeOf(threadState{}, event, want)); !errors.As(err, &handled) || !reflect.DeepEqual(handled.Receipt.Result, want.Result) {
		t.Errorf("Save with the same command: %v", err)
	}
	if _, found, err := threads.Receipt(t.Context(), usecase.Tenant{}, want.CommandID); found || err != nil {
		t.Errorf("another tenant finds it: %v, %v", found, err)
	}
}

func TestAThreadWithAnEventThatCanNotBeReadIsNotDecidedOn(t *testing.T) {
	gateway := dynamodbtest.New(t)
	threads, key := open(t, gateway, 1000), newKey(t)
	create(t, threads, key)
	id := eventstore.AggregateID{Tenant: key.Tenant.String(), Type: "thread", ULID: key.ID}
	poison := eventstore.Entry{SeqNr: 2, EventID: "poison", EventType: "Poison", OccurredAt: time.Now(), Payload: []byte(`{"id":"poison"}`)}
	if err := gateway.Append(t.Context(), eventstore.Append{ID: id, ExpectedVersion: 1, Entries: []eventstore.Entry{poison}}); err != nil {
		t.Fatal(err)
	}
	if _, err := open(t, gateway, 1000).Load(t.Context(), key); usecase.KindOf(err) != usecase.Internal {
		t.Errorf("loaded with %v", err)
	}
}
