package sqlstore_test

import (
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/oklog/ulid/v2"

	"example.com/threads/es"
	"example.com/threads/es/database"
	"example.com/threads/es/estest/testenv"
	"example.com/threads/es/migration"
	"example.com/threads/es/sqlstore"
)

// onEach runs test on a fresh event store in every kind of database.
func onEach(t *testing.T, test func(t *testing.T, db *sqlx.DB)) {
	t.Run("sqlite", func(t *testing.T) { test(t, openSQLite(t)) })
	t.Run("mysql", func(t *testing.T) { test(t, openMySQL(t)) })
}

func openSQLite(t testing.TB) *sqlx.DB {
	return open(t, "sqlite:"+filepath.Join(t.TempDir(), "events.db"))
}
func openMySQL(t testing.TB) *sqlx.DB { return open(t, testenv.MySQL(t)) }

// open migrates the database to the event store's schema.
func open(t testing.TB, url string) *sqlx.DB {
	t.Helper()
	db, err := database.Open(t.Context(), url, database.Settings{MaxConns: 40, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	if _, err := migration.Up(t.Context(), db, sqlstore.Schema()); err != nil {
		t.Fatal(err)
	}
	return db
}

func newGateway(t testing.TB, db *sqlx.DB, adjust ...func(*sqlstore.Settings)) *sqlstore.Gateway {
	t.Helper()
	settings := sqlstore.Settings{}
	for _, adjust := range adjust {
		adjust(&settings)
	}
	gateway, err := sqlstore.New(t.Context(), db, settings)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := gateway.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	return gateway
}

func newQueue(t testing.TB, db *sqlx.DB) *sqlstore.Queue {
	t.Helper()
	return newGateway(t, db).Queue()
}

func newID() es.AggregateID {
	return es.AggregateID{Type: "notebook", ID: ulid.Make().String()}
}

// write returns an Append of count entries after a version.
func write(id es.AggregateID, after uint64, count int) es.Append {
	w := es.Append{ID: id, ExpectedVersion: after}
	for i := range count {
		seqNr := after + uint64(i) + 1
		w.Entries = append(w.Entries, es.Entry{
			SeqNr: seqNr, EventID: ulid.Make().String(), EventType: "Tested", OccurredAt: time.Now().UTC().Truncate(time.Microsecond),
			UserID: ulid.Make().String(), CommandID: ulid.Make().String(), CorrelationID: "correlated",
			Payload: fmt.Appendf(nil, `{"seq_nr":%d,"text":"a message of a usual length, which is a line or two of text","padding":"%0300d"}`, seqNr, 0),
		})
	}
	return w
}

func mustAppend(t testing.TB, gateway es.EventPersistenceGateway, write es.Append) es.Append {
	t.Helper()
	if err := gateway.Append(t.Context(), write); err != nil {
		t.Fatal(err)
	}
	return write
}

func receipt(commandID string) es.Receipt {
	return es.Receipt{CommandID: commandID, Fingerprint: "print", Answer: []byte(`{}`), ExpiresAt: time.Now().Add(time.Hour)}
}

// entriesOf returns the aggregate's entries up to a version.
func entriesOf(t *testing.T, gateway es.Reader, id es.AggregateID, upTo uint64) (found []es.Entry) {
	t.Helper()
	for entry, err := range gateway.Entries(t.Context(), id, 0, upTo) {
		if err != nil {
			t.Fatal(err)
		}
		found = append(found, entry)
	}
	return found
}
