package es_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.com/threads/es"
	"example.com/threads/es/dynamodb/dynamodbtest"
	"example.com/threads/es/estest/notebook"
)

// watched is a real gateway that counts calls. It can delay snapshots.
type watched struct {
	es.EventPersistenceGateway
	heads, entries, saved atomic.Int64
	hold                  chan struct{} // if not nil, SaveSnapshot waits until it is closed
}

func (w *watched) Head(ctx context.Context, id es.AggregateID) (es.Head, error) {
	w.heads.Add(1)
	return w.EventPersistenceGateway.Head(ctx, id)
}

func (w *watched) Entries(ctx context.Context, id es.AggregateID, after, upTo uint64) iter.Seq2[es.Entry, error] {
	w.entries.Add(int64(upTo - after))
	return w.EventPersistenceGateway.Entries(ctx, id, after, upTo)
}

func (w *watched) SaveSnapshot(ctx context.Context, id es.AggregateID, snapshot es.Snapshot) error {
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

func openRepository(t *testing.T, gateway es.EventPersistenceGateway, every uint64) *notebook.Repository {
	notebooks := es.NewRepository(notebook.Aggregate(), gateway, es.Settings{SnapshotEvery: every, Logger: slog.New(slog.NewTextHandler(t.Output(), nil))})
	t.Cleanup(func() {
		if err := notebooks.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	return notebooks
}

func newKey() es.AggregateID {
	return es.AggregateID{Tenant: "acme", Type: notebook.Type, ID: notebook.NewID()}
}

func record(key es.AggregateID, seqNr uint64, event notebook.Event) es.Recorded[notebook.Event] {
	return es.Recorded[notebook.Event]{
		Envelope: es.Envelope{
			EventID: notebook.NewID(), AggregateType: key.Type, AggregateID: key.ID, SeqNr: seqNr, OccurredAt: time.Now().UTC().Truncate(time.Microsecond),
			CommandID: notebook.NewID(), Caller: es.Caller{Tenant: key.Tenant, Executor: ada},
		},
		Event: event,
	}
}

type notebookState = es.State[notebook.Notebook]

// create saves a notebook of ada's; post saves another note of hers.
func create(t *testing.T, notebooks *notebook.Repository, key es.AggregateID) notebookState {
	t.Helper()
	event := notebook.Opened{Owner: ada, Title: "tea"}
	return save(t, notebooks, key, notebookState{}, event)
}

func post(t *testing.T, notebooks *notebook.Repository, key es.AggregateID, state notebookState) notebookState {
	t.Helper()
	text := fmt.Sprintf("note %d", state.Version+1)
	return save(t, notebooks, key, state, notebook.Written{By: ada, Text: text})
}

func save(t *testing.T, notebooks *notebook.Repository, key es.AggregateID, state notebookState, event notebook.Event) notebookState {
	t.Helper()
	after, err := notebooks.Save(t.Context(), key, state, record(key, state.Version+1, event))
	if err != nil {
		t.Fatal(err)
	}
	return after
}

func checkState(t *testing.T, want, got notebookState) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error("state (-want +got):\n" + diff)
	}
}

func TestAnotherProcessLoadsWhatWasSaved(t *testing.T) {
	gateway := dynamodbtest.New(t)
	notebooks, key := openRepository(t, gateway, 10), newKey()
	state := create(t, notebooks, key)
	for range 37 { // three snapshots, and events after the last one
		state = post(t, notebooks, key, state)
	}
	loaded, err := openRepository(t, gateway, 10).Load(t.Context(), key)
	if err != nil {
		t.Fatal(err)
	}
	checkState(t, state, loaded)
}

func TestARememberedStateCostsNoRead(t *testing.T) {
	gateway := &watched{EventPersistenceGateway: dynamodbtest.New(t)}
	notebooks, key := openRepository(t, gateway, 1000), newKey()
	state := create(t, notebooks, key)
	for range 5 {
		state = post(t, notebooks, key, state)
		loaded, err := notebooks.Load(t.Context(), key)
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
	here, elsewhere, key := openRepository(t, gateway, 1000), openRepository(t, gateway, 1000), newKey()
	old := create(t, here, key)
	state, err := elsewhere.Load(t.Context(), key)
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		state = post(t, elsewhere, key, state)
	}

	if err := here.Confirm(t.Context(), key, old.Version); !errors.Is(err, es.ErrConflict) {
		t.Errorf("Confirm: %v", err)
	}
	event := record(key, 2, notebook.Renamed{Title: "coffee"})
	if _, err := here.Save(t.Context(), key, old, event); !errors.Is(err, es.ErrConflict) {
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

func (r *racing) Head(ctx context.Context, id es.AggregateID) (es.Head, error) {
	head, err := r.watched.Head(ctx, id)
	if meanwhile := r.meanwhile; meanwhile != nil {
		r.meanwhile = nil
		meanwhile()
	}
	return head, err
}

func TestAReloadThatMeetsASaveReadsNothingAgain(t *testing.T) {
	gateway := &racing{watched: &watched{EventPersistenceGateway: dynamodbtest.New(t)}}
	notebooks, key := openRepository(t, gateway, 1000), newKey()
	state := create(t, notebooks, key)
	for range 5 {
		state = post(t, notebooks, key, state)
	}
	gateway.meanwhile = func() { state = post(t, notebooks, key, state) }
	reloaded, err := notebooks.Reload(t.Context(), key)
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
	notebooks, key := openRepository(t, gateway, 5), newKey()
	state := create(t, notebooks, key)
	for range 20 { // no snapshot is completed before all of these are
		state = post(t, notebooks, key, state)
	}
	close(gateway.hold)
	if err := notebooks.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	head, err := gateway.Head(t.Context(), key)
	if err != nil || head.Version != 21 || head.SnapshotVersion < 20 {
		t.Errorf("head %+v, %v", head, err)
	}
	if saved := gateway.saved.Load(); saved > 3 {
		t.Errorf("%d snapshots were written although one is enough", saved)
	}
}

// A notebook that is too large for the cache, or seldom used, needs snapshots most, because each load replays its
// events.
func TestANotebookThatIsNotRememberedGetsItsSnapshots(t *testing.T) {
	for about, gateway := range map[string]*watched{"at once": {}, "after they have waited": {hold: make(chan struct{})}} {
		t.Run(about, func(t *testing.T) {
			gateway.EventPersistenceGateway = dynamodbtest.New(t)
			const every, events = 5, 41
			notebooks := es.NewRepository(notebook.Aggregate(), gateway, es.Settings{SnapshotEvery: every, CacheBytes: 1, Logger: slog.New(slog.DiscardHandler)})
			key := newKey()
			state := create(t, notebooks, key)
			for state.Version < events {
				state = post(t, notebooks, key, state)
			}
			if gateway.hold != nil {
				close(gateway.hold)
			}
			if err := notebooks.Close(t.Context()); err != nil {
				t.Fatal(err)
			}
			head, err := gateway.Head(t.Context(), key)
			if err != nil || head.Version != events || head.SnapshotVersion <= events-every {
				t.Errorf("head %+v, %v", head, err)
			}
			if saved := gateway.saved.Load(); saved > events/every {
				t.Errorf("%d snapshots were written for %d events", saved, events)
			}
		})
	}
}

// States that wait for their snapshots must not take more memory than the cache may. What is left out is due again with
// the next event.
func TestStatesThatWaitForSnapshotsAreLimited(t *testing.T) {
	gateway := &watched{EventPersistenceGateway: dynamodbtest.New(t), hold: make(chan struct{})}
	notebooks := es.NewRepository(notebook.Aggregate(), gateway, es.Settings{SnapshotEvery: 5, CacheBytes: 1, Logger: slog.New(slog.DiscardHandler)})
	for range 8 {
		key := newKey()
		for state := create(t, notebooks, key); state.Version < 5; {
			state = post(t, notebooks, key, state)
		}
	}
	close(gateway.hold)
	if err := notebooks.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if saved := gateway.saved.Load(); saved < 1 || saved > 2 { // the first, and one that has waited
		t.Errorf("%d snapshots were written", saved)
	}
}

func TestAPanicOfASnapshotCodec(t *testing.T) {
	aggregate := notebook.Aggregate()
	encode := aggregate.Snapshots.Encode
	aggregate.Snapshots.Encode = func(id string, version uint64, n notebook.Notebook) ([]byte, error) {
		if version == 5 {
			panic("out of order")
		}
		return encode(id, version, n)
	}
	var log bytes.Buffer
	notebooks := es.NewRepository(aggregate, dynamodbtest.New(t), es.Settings{SnapshotEvery: 5, Logger: slog.New(slog.NewTextHandler(&log, nil))})
	key := newKey()
	for state := create(t, notebooks, key); state.Version < 5; {
		state = post(t, notebooks, key, state)
	}
	if err := notebooks.Close(t.Context()); err != nil || !strings.Contains(log.String(), "panic while writing a snapshot: out of order") {
		t.Errorf("%v, log: %s", err, log.String())
	}
}

// A snapshot contains the whole state, so larger states need more events between two snapshots.
func TestLargeStatesGetFewerSnapshots(t *testing.T) {
	for about, bytes := range map[string]uint64{"remembered": 0, "not remembered": 1} {
		t.Run(about, func(t *testing.T) {
			gateway := &watched{EventPersistenceGateway: dynamodbtest.New(t)}
			const events, largest = 200, 32 // events, and those between two snapshots of a notebook with so many notes
			notebooks := es.NewRepository(notebook.Aggregate(), gateway, es.Settings{SnapshotEvery: 1, CacheBytes: bytes, Logger: slog.New(slog.DiscardHandler)})
			key := newKey()
			state := create(t, notebooks, key)
			for state.Version < events {
				state = post(t, notebooks, key, state)
			}
			if err := notebooks.Close(t.Context()); err != nil {
				t.Fatal(err)
			}
			head, err := gateway.Head(t.Context(), key)
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
	notebooks := es.NewRepository(notebook.Aggregate(), gateway, es.Settings{SnapshotEvery: 1, Logger: slog.New(slog.DiscardHandler)})
	for range 3 {
		create(t, notebooks, newKey())
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	begun := time.Now()
	if err := notebooks.Close(ctx); !errors.Is(err, context.DeadlineExceeded) || time.Since(begun) > 10*time.Second {
		t.Errorf("closed after %s with %v", time.Since(begun), err)
	}
	if saved := gateway.saved.Load(); saved != 0 {
		t.Errorf("%d snapshots were written", saved)
	}
}

// An invalid snapshot, or one of another notebook, must be skipped.
func TestSnapshotsThatCannotBeUsed(t *testing.T) {
	gateway := dynamodbtest.New(t)
	notebooks := openRepository(t, gateway, 1000)
	another, err := notebook.Aggregate().Snapshots.Encode(notebook.NewID(), 2, notebook.Notebook{Owner: bob})
	if err != nil {
		t.Fatal(err)
	}
	for about, payload := range map[string][]byte{"an invalid one": []byte(`{"format":99}`), "another's": another} {
		key := newKey()
		state := post(t, notebooks, key, create(t, notebooks, key))
		if err := gateway.SaveSnapshot(t.Context(), key, es.Snapshot{Version: 2, Payload: payload}); err != nil {
			t.Fatal(err)
		}
		loaded, err := openRepository(t, gateway, 1000).Load(t.Context(), key)
		if err != nil {
			t.Fatalf("%s: %v", about, err)
		}
		checkState(t, state, loaded)
	}
}
