package sqlstore_test

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

	"example.com/threads/es"
	"example.com/threads/es/database"
	"example.com/threads/es/estest/notebook"
	"example.com/threads/es/estest/testenv"
	"example.com/threads/es/migration"
	"example.com/threads/es/projection"
	"example.com/threads/es/rowstore"
	"example.com/threads/es/sqlstore"
)

// system is everything from the command to the read model, in one process.
type system struct {
	events, rows *sqlx.DB
	gateway      *sqlstore.Gateway
	commands     *notebook.Service
	readModel    *rowstore.Store
	projector    *projection.Projector
}

func onSystems(t *testing.T, test func(t *testing.T, s *system)) {
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
	s := &system{}
	s.events = openSet(t, eventsURL, sqlstore.Schema())
	s.rows = openSet(t, rowsURL, rowstore.Schema())
	logger := slog.New(slog.DiscardHandler)
	var err error
	s.gateway, err = sqlstore.New(t.Context(), s.events, sqlstore.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	s.commands = es.NewService(notebook.Aggregate(), s.gateway, es.Settings{Logger: logger, Timeout: time.Minute})
	t.Cleanup(func() {
		ctx := context.WithoutCancel(t.Context())
		if err := errors.Join(s.commands.Close(ctx), s.gateway.Close(ctx)); err != nil {
			t.Error(err)
		}
	})
	if s.readModel, err = rowstore.New(s.rows, "rows"); err != nil {
		t.Fatal(err)
	}
	s.projector = projection.New(s.readModel, s.gateway, projection.Options{Logger: logger}, notebook.Positions{})
	return s
}

func openSet(t testing.TB, url string, set migration.Set) *sqlx.DB {
	t.Helper()
	db, err := database.Open(t.Context(), url, database.Settings{Rebuildable: set == rowstore.Schema()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	if _, err := migration.Up(t.Context(), db, set); err != nil {
		t.Fatal(err)
	}
	return db
}

// source returns a source that feeds projector; runSource runs it until stop is called or the test ends.
func (s *system) source(t testing.TB, projector projection.Sink, settings sqlstore.SourceSettings) *sqlstore.Source {
	t.Helper()
	return s.gateway.NewSource(projector, s.readModel, slog.New(slog.DiscardHandler), settings)
}

func runSource(t testing.TB, source *sqlstore.Source) (stop func()) {
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { source.Run(ctx) })
	stop = func() { cancel(); running.Wait() }
	t.Cleanup(stop)
	return stop
}

// create opens a notebook, and post writes a note into it.
func (s *system) create(t testing.TB, tenant es.Tenant) es.AggregateID {
	t.Helper()
	caller := callerOf(tenant)
	result, err := s.commands.Handle(t.Context(), notebook.Request(caller, "", notebook.Open{By: caller.Executor, Title: "title"}))
	if err != nil {
		t.Fatal(err)
	}
	return result.Key
}

func (s *system) post(t testing.TB, key es.AggregateID, text string) es.Result {
	t.Helper()
	caller := callerOf(key.Tenant)
	result, err := s.commands.Handle(t.Context(), notebook.Request(caller, key.ID, notebook.Write{By: caller.Executor, Text: text}))
	if err != nil {
		t.Fatal(err)
	}
	return result
}

func callerOf(tenant es.Tenant) es.Caller {
	return es.Caller{Tenant: tenant, Executor: "01H42K4ABWQ5V2XQEP3A48VE0Z", CorrelationID: ulid.Make().String()}
}

// eventually waits until the positions of all keys have its version.
func (s *system) eventually(t *testing.T, versions map[es.AggregateID]uint64) {
	t.Helper()
	testenv.Eventually(t, 20*time.Second, func() error {
		for key, want := range versions {
			found, err := s.readModel.Versions(t.Context(), []es.AggregateID{key})
			if err != nil {
				return err
			}
			if found[key] != want {
				return fmt.Errorf("%s is at version %d, not %d", key, found[key], want)
			}
		}
		return nil
	})
}
