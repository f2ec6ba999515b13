package relational_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/oklog/ulid/v2"

	"example.com/threads/domain/ident"
	"example.com/threads/domain/thread"
	"example.com/threads/domain/writing"
	"example.com/threads/infrastructure/database"
	"example.com/threads/interfaceadaptor/chatstore"
	"example.com/threads/interfaceadaptor/gateway/sqlstore"
	"example.com/threads/interfaceadaptor/readmodel/chatrows"
	"example.com/threads/interfaceadaptor/readmodel/projectionstore"
	"example.com/threads/interfaceadaptor/repository"
	"example.com/threads/interfaceadaptor/stream"
	"example.com/threads/interfaceadaptor/stream/relational"
	rdbmigration "example.com/threads/rdb-migration"
	"example.com/threads/tests/chattest"
	"example.com/threads/tests/testenv"
	"example.com/threads/usecase"
	"example.com/threads/usecase/chat"
	"example.com/threads/usecase/command"
	"example.com/threads/usecase/projection"
)

// system is everything from the command to the read model, in one process.
type system struct {
	events, rows *sqlx.DB
	gateway      *sqlstore.Gateway
	commands     *chat.ThreadCommands
	readModel    *projectionstore.Store
	projector    *projection.Projector
	onAppend     func()
}

func onEach(t *testing.T, test func(t *testing.T, s *system)) {
	t.Run("sqlite", func(t *testing.T) {
		folder := t.TempDir()
		test(t, newSystem(t, "sqlite:"+filepath.Join(folder, "events.db"), "sqlite:"+filepath.Join(folder, "rows.db")))
	})
	t.Run("mysql", func(t *testing.T) {
		both := testenv.MySQL(t)
		test(t, newSystem(t, both, both))
	})
}

func newSystem(t testing.TB, eventsURL, rowsURL string) *system {
	t.Helper()
	s := &system{onAppend: func() {}}
	s.events = open(t, eventsURL, rdbmigration.EventStore())
	s.rows = open(t, rowsURL, rdbmigration.ReadModel())
	logger := slog.New(slog.DiscardHandler)
	var err error
	s.gateway, err = sqlstore.New(s.events, sqlstore.Settings{Clock: time.Now, Logger: logger, OnAppend: func() { s.onAppend() }})
	if err != nil {
		t.Fatal(err)
	}
	threads := chatstore.NewThreadRepository(s.gateway, repository.Settings{Logger: logger})
	s.commands = command.NewService(chat.Threads(), threads, command.Settings{})
	t.Cleanup(func() {
		ctx := context.WithoutCancel(t.Context())
		s.commands.Drain()
		if err := errors.Join(threads.Close(ctx), s.gateway.Close(ctx)); err != nil {
			t.Error(err)
		}
	})
	if s.readModel, err = projectionstore.New(s.rows, chatrows.Projection); err != nil {
		t.Fatal(err)
	}
	s.projector = projection.New(s.readModel, stream.NewJournalReader(s.gateway), projection.Options{Logger: logger}, chatrows.Handlers()...)
	return s
}

func open(t testing.TB, url string, set rdbmigration.Set) *sqlx.DB {
	t.Helper()
	db, err := database.Open(t.Context(), url, database.Settings{Rebuildable: set == rdbmigration.ReadModel()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	if _, err := rdbmigration.Up(t.Context(), db, set); err != nil {
		t.Fatal(err)
	}
	return db
}

// source returns a source that feeds projector; run runs it until stop is called or the test ends.
func (s *system) source(t testing.TB, projector stream.Projector, settings relational.Settings) *relational.Source {
	t.Helper()
	queue, err := sqlstore.NewQueue(s.events)
	if err != nil {
		t.Fatal(err)
	}
	return relational.New(relational.Ports{
		Queue: queue, Projector: projector, Checkpoints: s.readModel, Log: slog.New(slog.DiscardHandler),
	}, settings)
}

func run(t testing.TB, source *relational.Source) (stop func()) {
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { source.Run(ctx) })
	stop = func() { cancel(); running.Wait() }
	t.Cleanup(stop)
	return stop
}

// create creates a thread, and post posts a message in it.
func (s *system) create(t testing.TB, tenant string) usecase.Key {
	t.Helper()
	caller := callerOf(t, tenant)
	result, err := s.commands.Handle(t.Context(), chattest.Request(caller, thread.ID{}, thread.Create{Executor: executorOf(caller), Name: writing.RecordedName("name")}))
	if err != nil {
		t.Fatal(err)
	}
	return result.Key
}

func (s *system) post(t testing.TB, key usecase.Key, text string) command.Result {
	t.Helper()
	caller := callerOf(t, key.Tenant.String())
	result, err := s.commands.Handle(t.Context(), chattest.Request(caller, chat.ThreadID(key), thread.PostMessage{Executor: executorOf(caller), Text: thread.RecordedText(text)}))
	if err != nil {
		t.Fatal(err)
	}
	return result
}

func callerOf(t testing.TB, tenant string) usecase.Caller {
	t.Helper()
	parsed, err := usecase.ParseTenant(tenant)
	if err != nil {
		t.Fatal(err)
	}
	user, err := ident.Parse[ident.UserAccount]("01H42K4ABWQ5V2XQEP3A48VE0Z")
	if err != nil {
		t.Fatal(err)
	}
	return usecase.Caller{Tenant: parsed, Executor: user.String(), CorrelationID: ulid.Make().String()}
}

// eventually waits until the rows of each thread have its version.
func (s *system) eventually(t *testing.T, versions map[usecase.Key]uint64) {
	t.Helper()
	testenv.Eventually(t, 20*time.Second, func() error {
		for key, want := range versions {
			found, err := s.readModel.Versions(t.Context(), []usecase.Key{key})
			if err != nil {
				return err
			}
			if found[key] != want {
				return fmt.Errorf("thread %s is at version %d, not %d", chat.ThreadID(key), found[key], want)
			}
		}
		return nil
	})
}

func executorOf(caller usecase.Caller) thread.UserID {
	id, _ := ident.Parse[ident.UserAccount](caller.Executor)
	return id
}
