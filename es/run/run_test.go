package run_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"example.com/threads/es"
	"example.com/threads/es/database"
	"example.com/threads/es/estest/notebook"
	"example.com/threads/es/estest/testenv"
	"example.com/threads/es/migration"
	"example.com/threads/es/process"
	"example.com/threads/es/projection"
	"example.com/threads/es/rowstore"
	"example.com/threads/es/run"
	"example.com/threads/es/sqlstore"
)

// notes are the rows: the number of notes in each notebook.
var notes = rowstore.JSONRows[notebook.Event, int]{
	Table: "notes", Events: notebook.Events(),
	Fold: func(written int, e es.Recorded[notebook.Event]) (int, error) {
		if _, is := e.Event.(notebook.Written); is {
			written++
		}
		return written, nil
	},
}

// world is an event store with notebooks and their rows, in one database.
type world struct {
	*notebook.Service
	file *sqlstore.Gateway
	me   string
}

func newWorld(t *testing.T) *world {
	t.Helper()
	file, err := sqlstore.OpenFile(t.Context(), filepath.Join(t.TempDir(), "notes.db"))
	if err != nil {
		t.Fatal(err)
	}
	return worldIn(t, file)
}

// onServer is a world on a database server, where several updaters can run.
func onServer(t *testing.T) *world {
	t.Helper()
	db, err := database.Open(t.Context(), testenv.MySQL(t), database.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	if _, err := migration.Up(t.Context(), db, sqlstore.Schema(), rowstore.Schema()); err != nil {
		t.Fatal(err)
	}
	gateway, err := sqlstore.New(t.Context(), db, sqlstore.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	return worldIn(t, gateway)
}

func worldIn(t *testing.T, file *sqlstore.Gateway) *world {
	t.Helper()
	if err := notes.Create(t.Context(), file.DB); err != nil {
		t.Fatal(err)
	}
	w := &world{es.NewService(notebook.Aggregate(), file, es.Settings{}), file, notebook.NewID()}
	t.Cleanup(func() {
		ctx := context.WithoutCancel(t.Context())
		if err := w.Close(ctx); err != nil {
			t.Error(err)
		}
		if err := file.Close(ctx); err != nil {
			t.Error(err)
		}
	})
	return w
}

// handle applies a command and returns the aggregate's id.
func (w *world) handle(t *testing.T, id string, command notebook.Command) es.AggregateID {
	t.Helper()
	result, err := w.Handle(t.Context(), notebook.Request(es.Caller{Executor: w.me, Source: "test"}, id, command))
	if err != nil {
		t.Fatal(err)
	}
	return result.Key
}

// open opens a notebook and writes into it.
func (w *world) open(t *testing.T, written int) es.AggregateID {
	t.Helper()
	key := w.handle(t, "", notebook.Open{By: w.me, Title: "tea"})
	for range written {
		w.handle(t, key.ID, notebook.Write{By: w.me, Text: "hello"})
	}
	return key
}

func eventually(t *testing.T, check func() bool) {
	t.Helper()
	testenv.Eventually(t, 30*time.Second, func() error {
		if !check() {
			return errors.New("it is not so")
		}
		return nil
	})
}

// wantNotes waits until the row of a notebook is a number.
func (w *world) wantNotes(t *testing.T, key es.AggregateID, want int) {
	t.Helper()
	testenv.Eventually(t, 30*time.Second, func() error {
		if got, version, err := notes.Read(t.Context(), w.file.DB, key, 0); err != nil || got != want {
			return fmt.Errorf("%d in the row of %s at version %d, want %d: %w", got, key, version, want, err)
		}
		return nil
	})
}

// options are those of an updater of the notes.
func (w *world) options(handlers ...projection.Handler) run.Options {
	return run.Options{
		ReadModel: run.ReadModel{Name: notes.Table, Tables: []string{notes.Table}, Handlers: handlers},
		Log:       slog.New(slog.DiscardHandler),
		Open: func(context.Context) (run.Databases, error) {
			return run.Databases{
				Journal: w.file, Rows: w.file.DB, Trouble: w.file.Check, Close: func() {},
				Source: func(sink projection.Sink, checkpoints projection.Checkpoints, _ time.Duration) (run.Source, error) {
					return w.file.NewSource(sink, checkpoints, slog.New(slog.DiscardHandler),
						sqlstore.SourceSettings{PollMax: 10 * time.Millisecond}), nil
				},
			}, nil
		},
	}
}

// start runs an updater until stop, or the test's end.
func start(t *testing.T, options run.Options) (updater *run.Updater, stop func()) {
	t.Helper()
	updater = run.New(options, prometheus.NewPedanticRegistry())
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := updater.Run(ctx); err != nil {
			t.Error(err)
		}
	}()
	stop = sync.OnceFunc(func() { cancel(); <-done })
	t.Cleanup(stop)
	return updater, stop
}

// consumer counts its turns.
type consumer struct{ begun, ended atomic.Int64 }

func (c *consumer) Run(ctx context.Context) {
	c.begun.Add(1)
	<-ctx.Done()
	c.ended.Add(1)
}

func (c *consumer) Check(context.Context) (run.Status, error) {
	return run.Status{Warnings: []string{"careful"}}, nil
}

// Each turn has consumers and metrics of its own, and goes on where the rows are.
func TestATurnComesBack(t *testing.T) {
	w := newWorld(t)
	key := w.open(t, 1)
	beside := &consumer{}
	made := 0
	options := w.options(notes.Handler())
	turns := make(chan context.CancelFunc) // each ends a turn from outside, like one that is lost
	options.Faults.Turn = func(ctx context.Context) (context.Context, error) {
		ctx, end := context.WithCancel(ctx)
		turns <- end
		return ctx, nil
	}
	open := options.Open
	options.Open = func(ctx context.Context) (run.Databases, error) {
		databases, err := open(ctx)
		databases.Consumers = []func(*run.Turn) (run.Consumer, error){func(turn *run.Turn) (run.Consumer, error) {
			made++
			// The same metric in each turn: it must have gone with the turn before.
			return beside, turn.Registry.Register(prometheus.NewCounter(prometheus.CounterOpts{Name: "beside_total", Help: "A test's."}))
		}}
		return databases, err
	}
	updater, stop := start(t, options)
	const wanted = 3
	for turn := 1; turn <= wanted; turn++ {
		end := <-turns
		w.wantNotes(t, key, turn)
		eventually(t, func() bool {
			state := updater.Look(t.Context())
			return state.Active && state.Ready() && strings.Contains(strings.Join(state.Warnings, ""), "careful")
		})
		end()
		w.handle(t, key.ID, notebook.Write{By: w.me, Text: "between the turns"})
	}
	end := <-turns
	w.wantNotes(t, key, wanted+1)
	stop()
	end()
	if begun, ended := beside.begun.Load(), beside.ended.Load(); made != wanted+1 || begun != wanted+1 || ended != begun {
		t.Errorf("%d consumers were made, %d begun and %d ended in %d turns", made, begun, ended, wanted+1)
	}
	if state := updater.Look(t.Context()); state.Active || !state.CaughtUp {
		t.Errorf("after the end: %+v", state)
	}
}

func TestRowsOfAnotherVersionAreRebuiltIfAllowed(t *testing.T) {
	w := newWorld(t)
	key, closed := w.open(t, 3), w.open(t, 2)
	w.handle(t, closed.ID, notebook.Close{By: w.me})
	_, stop := start(t, w.options(notes.Handler()))
	w.wantNotes(t, key, 3)
	w.wantNotes(t, closed, 2)
	stop()

	tenfold := notes
	tenfold.Version, tenfold.Fold = 2, func(written int, e es.Recorded[notebook.Event]) (int, error) {
		if _, is := e.Event.(notebook.Written); is {
			written += 10
		}
		return written, nil
	}
	options := w.options(tenfold.Handler())
	options.Advice.Rebuild = "ask for it"
	updater, stop := start(t, options)
	eventually(t, func() bool {
		return strings.Contains(updater.Look(t.Context()).Checks["row_versions"], "ask for it")
	})
	w.wantNotes(t, key, 3)
	if err := updater.Rebuild(); err != nil { // an operator may
		t.Fatal(err)
	}
	w.wantNotes(t, key, 30)
	w.wantNotes(t, closed, 20)
	eventually(t, func() bool { return updater.Look(t.Context()).Ready() })
	stop()

	hundredfold := tenfold
	hundredfold.Version, hundredfold.Fold = 3, func(written int, e es.Recorded[notebook.Event]) (int, error) {
		row, err := tenfold.Fold(0, e)
		return written + 10*row, err
	}
	ctx, cancel := context.WithCancel(t.Context())
	followed := make(chan error, 1)
	go func() { followed <- run.Follow(ctx, w.file, notes.Table, []string{notes.Table}, hundredfold.Handler()) }()
	w.wantNotes(t, key, 300)
	w.wantNotes(t, closed, 200)
	cancel()
	if err := <-followed; err != nil {
		t.Error(err)
	}
}

// A rebuild goes on wherever its process has ended, also beside commands.
func TestARebuildGoesOnAfterItsProcess(t *testing.T) {
	w := newWorld(t)
	keys := map[es.AggregateID]int{}
	for i := range 30 {
		keys[w.open(t, i%4)] = i % 4
	}
	_, stop := start(t, w.options(notes.Handler()))
	for key, want := range keys {
		w.wantNotes(t, key, want)
	}
	stop()

	options := w.options(notes.Handler())
	options.RebuildAuto = true
	for round := range 5 {
		again := notes
		again.Version = 2 + round
		options.ReadModel.Handlers = []projection.Handler{again.Handler()}
		for _, after := range []time.Duration{50 * time.Millisecond, 300 * time.Millisecond} {
			_, stop := start(t, options)
			for key := range keys {
				w.handle(t, key.ID, notebook.Write{By: w.me, Text: "meanwhile"})
				keys[key]++
				break
			}
			_ = es.Wait(t.Context(), after) // at no particular moment of the rebuild
			stop()
		}
	}
	updater, _ := start(t, options)
	testenv.Eventually(t, 3*time.Minute, func() error { // a rebuild that fails is tried again after a minute
		if state := updater.Look(t.Context()); !state.Ready() || !state.Rebuild.Over() || len(state.Warnings) > 0 {
			return fmt.Errorf("the rebuild is not over: %+v", state)
		}
		return nil
	})
	for key, want := range keys {
		w.wantNotes(t, key, want)
	}
}

// stuck is a journal that can't be read through.
type stuck struct {
	es.Journal
	asked chan struct{}
}

func (s stuck) ReadJournal(ctx context.Context, _, _ int, _ string) iter.Seq2[es.JournalPage, error] {
	return func(yield func(es.JournalPage, error) bool) {
		close(s.asked)
		<-ctx.Done()
		yield(es.JournalPage{}, ctx.Err())
	}
}

// For some seconds nobody knows that the process of a rebuild has ended. Who asks for one then gets it.
func TestARebuildThatIsAskedForBesideADeadOne(t *testing.T) {
	if testing.Short() {
		t.Skip("left out by -short: it waits for seconds")
	}
	t.Parallel()
	w := newWorld(t)
	key := w.open(t, 2)
	options, asked := w.options(notes.Handler()), make(chan struct{})
	options.Faults.Rebuild = func(journal es.Journal) es.Journal { return stuck{journal, asked} }
	updater, stop := start(t, options)
	w.wantNotes(t, key, 2)
	if err := updater.Rebuild(); err != nil {
		t.Fatal(err)
	}
	<-asked
	stop()
	updater, _ = start(t, w.options(notes.Handler()))
	eventually(t, func() bool { return updater.Rebuild() == nil })
	eventually(t, func() bool { return updater.Look(t.Context()).Rebuild.Over() })
	w.wantNotes(t, key, 2)
}

func TestATypeThatNobodyKnowsIsToldAndNotLost(t *testing.T) {
	w := newWorld(t)
	key := w.open(t, 2)
	options := w.options()
	options.Advice.Ignore = "IGNORE="
	updater, stop := start(t, options)
	eventually(t, func() bool {
		state := updater.Look(t.Context())
		return strings.Contains(state.Checks["aggregate_types"], "IGNORE=notebook") && !state.Ready()
	})
	stop()
	updater, _ = start(t, w.options(notes.Handler()))
	w.wantNotes(t, key, 2)
	eventually(t, func() bool { return updater.Look(t.Context()).Ready() })
}

// A process manager has handlers for some of the read model's types. Events of the others are no fault.
func TestTypesThatDoNotConcernAProcessManager(t *testing.T) {
	w := newWorld(t)
	w.open(t, 1)
	var log bytes.Buffer
	options := w.options(notes.Handler())
	options.Log = slog.New(slog.NewTextHandler(&log, nil))
	open := options.Open
	options.Open = func(ctx context.Context) (run.Databases, error) {
		databases, err := open(ctx)
		nothing := func(context.Context) error { return nil }
		databases.Consumers = []func(*run.Turn) (run.Consumer, error){func(turn *run.Turn) (run.Consumer, error) {
			return turn.Process(run.Process{
				Name: "idle", Handlers: func(*process.Outbox) []projection.Handler { return nil }, Hold: nothing, Finish: nothing,
			})
		}}
		return databases, err
	}
	_, stop := start(t, options)
	eventually(t, func() bool {
		var met int
		err := w.file.DB.GetContext(t.Context(), &met, "SELECT COUNT(*) FROM projection_types WHERE projection = 'idle'")
		return err == nil && met == 1
	})
	stop()
	if strings.Contains(log.String(), "unknown aggregate type") {
		t.Error(log.String())
	}
}

func TestAnotherUpdaterTakesOver(t *testing.T) {
	w := onServer(t)
	key := w.open(t, 1)
	first, stop := start(t, w.options(notes.Handler()))
	w.wantNotes(t, key, 1)
	eventually(t, func() bool { return first.Look(t.Context()).Ready() })
	second, _ := start(t, w.options(notes.Handler()))
	eventually(t, func() bool { // it tells what the first one has stored
		state := second.Look(t.Context())
		return !state.Active && state.Ready()
	})
	if _, err := second.Projector(); !errors.Is(err, run.ErrStandingBy) {
		t.Errorf("the projector of one that stands by: %v", err)
	}
	stop()
	w.handle(t, key.ID, notebook.Write{By: w.me, Text: "for the second one"})
	w.wantNotes(t, key, 2)
	eventually(t, func() bool { return second.Look(t.Context()).Active })
}
