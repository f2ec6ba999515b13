package projections

import (
	"context"
	"log/slog"
	"strings"
	"testing"

	"github.com/jmoiron/sqlx"
	"github.com/prometheus/client_golang/prometheus"

	"example.com/threads/cmd/internal/system"
	"example.com/threads/es/projection"
	"example.com/threads/es/run"
	"example.com/threads/infrastructure/eventstore"
	"example.com/threads/infrastructure/httpserver"
	"example.com/threads/interfaceadaptor/readmodel/chatrows"
	"example.com/threads/tests/sqlitetest"
)

// A program with other handlers takes rows without a version as its own. So the source must wait until the versions are
// stored.
func TestTheSourceWaitsForTheVersionsOfTheRows(t *testing.T) {
	url, db := sqlitetest.New(t, system.Schemas()...)
	if _, err := db.ExecContext(t.Context(), "CREATE TRIGGER held BEFORE INSERT ON row_sets BEGIN SELECT RAISE(ABORT, 'held'); END"); err != nil {
		t.Fatal(err)
	}
	log := slog.New(onWarning{slog.DiscardHandler, func(record slog.Record) {
		if strings.HasPrefix(record.Message, "the versions of the rows could not be stored") {
			_, _ = db.ExecContext(t.Context(), "DROP TRIGGER IF EXISTS held") // the updater tries again
		}
	}})
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	began := false
	u := newUpdater(t, url, db, log, atBegin(func() {
		defer stop()
		began = true
		versions := ""
		err := db.GetContext(context.WithoutCancel(ctx), &versions, "SELECT handlers FROM row_sets WHERE projection = ?", chatrows.Projection)
		if err != nil || versions == "" {
			t.Errorf("the source started with the versions %q, %v", versions, err)
		}
	}))
	if err := u.Run(ctx); err != nil || !began {
		t.Errorf("the source started: %t, %v", began, err)
	}
}

// newUpdater returns one on a SQLite file with events and rows.
func newUpdater(t *testing.T, url string, db *sqlx.DB, log *slog.Logger, faults run.Faults, more ...consumer) *run.Updater {
	t.Helper()
	store, err := eventstore.Open(t.Context(), eventstore.Settings{Kind: eventstore.SQLite, URL: url}, log, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close(context.WithoutCancel(t.Context())) })
	databases := func(context.Context) (Databases, error) {
		return Databases{Store: store, ReadModel: db, Close: func() {}}, nil
	}
	made := options(Settings{}, databases, run.Options{Faults: faults}, system.Parts{Log: log, Registry: httpserver.NewRegistry()})
	open := made.Open
	made.Open = func(ctx context.Context) (run.Databases, error) {
		opened, err := open(ctx)
		opened.Consumers = append(opened.Consumers, more...)
		return opened, err
	}
	return run.New(made, prometheus.NewRegistry())
}

// onWarning reports warnings of the log.
type onWarning struct {
	slog.Handler
	tell func(slog.Record)
}

func (onWarning) Enabled(_ context.Context, level slog.Level) bool { return level >= slog.LevelWarn }

func (h onWarning) Handle(_ context.Context, record slog.Record) error {
	h.tell(record)
	return nil
}

func (h onWarning) WithAttrs([]slog.Attr) slog.Handler { return h }
func (h onWarning) WithGroup(string) slog.Handler      { return h }

// atBegin reports the start of the source.
func atBegin(tell func()) run.Faults {
	return run.Faults{Projector: func(projector projection.Sink) projection.Sink { return beginning{projector, tell} }}
}

type beginning struct {
	projection.Sink
	tell func()
}

func (b beginning) Begin(ctx context.Context, fromFirst bool) error {
	b.tell()
	return b.Sink.Begin(ctx, fromFirst)
}
