package journalcheck_test

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/oklog/ulid/v2"

	"example.com/threads/es"
	"example.com/threads/es/database"
	"example.com/threads/es/journalcheck"
	"example.com/threads/es/migration"
	"example.com/threads/es/sqlstore"
)

// tested is the type of the aggregates.
var tested = es.Aggregate[int, int, struct{}]{Events: es.NewCodec("tested", nil, es.Plain[struct{}, struct{}]("Tested"))}

func snapshotOf(t *testing.T, id es.AggregateID, version uint64) []byte {
	t.Helper()
	payload, err := json.Marshal(map[string]any{"id": id.ID, "version": version, "state": 0})
	if err != nil {
		t.Fatal(err)
	}
	return payload
}

// world is an event store whose rows a test may damage, because foreign keys are off.
type world struct {
	*sqlstore.Gateway
	db *sqlx.DB
}

func newWorld(t *testing.T) world {
	t.Helper()
	url := "file:" + filepath.Join(t.TempDir(), "events.db") + "?_pragma=foreign_keys(0)"
	db, err := database.Open(t.Context(), url, database.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	if _, err := migration.Up(t.Context(), db, sqlstore.Schema()); err != nil {
		t.Fatal(err)
	}
	gateway, err := sqlstore.New(t.Context(), db, sqlstore.Settings{SnapshotKeep: 5})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = gateway.Close(context.WithoutCancel(t.Context())) })
	return world{gateway, db}
}

// spoil runs a statement in which :id is the aggregate's id.
func (w world) spoil(t *testing.T, id es.AggregateID, statement string) {
	t.Helper()
	result, err := w.db.NamedExecContext(t.Context(), statement, map[string]any{"id": id.String()})
	if err != nil {
		t.Fatal(err)
	}
	if rows, err := result.RowsAffected(); err != nil || rows == 0 {
		t.Fatalf("%s: %d rows, %v", statement, rows, err)
	}
}

// aggregate creates an aggregate of 30 events with snapshots at 10 and 20.
func (w world) aggregate(t *testing.T) es.AggregateID {
	t.Helper()
	id := es.AggregateID{Tenant: "one", Type: "tested", ID: ulid.Make().String()}
	w.grow(t, id, 0, 30)
	for _, version := range []uint64{10, 20} {
		if err := w.SaveSnapshot(t.Context(), id, es.Snapshot{Version: version, Payload: snapshotOf(t, id, version)}); err != nil {
			t.Fatal(err)
		}
	}
	return id
}

func (w world) grow(t *testing.T, id es.AggregateID, after uint64, count int) {
	t.Helper()
	write := es.Append{ID: id, ExpectedVersion: after}
	if after == 0 {
		write.FirstSnapshot = snapshotOf(t, id, 1)
	}
	for i := range count {
		seqNr, eventID := after+uint64(i)+1, ulid.Make().String()
		at := time.Now().UTC().Truncate(time.Microsecond)
		write.Entries = append(write.Entries, es.Entry{
			SeqNr: seqNr, EventID: eventID, EventType: "Tested", OccurredAt: at, CommandID: eventID,
			Payload: fmt.Appendf(nil, `{"type":"Tested","id":%q,"aggregate_id":{"value":%q},"seq_nr":%d,"occurred_at":%q,"tenant_code":%q,"command_id":%q}`,
				eventID, id.ID, seqNr, at.Format(time.RFC3339Nano), id.Tenant, eventID),
		})
	}
	if err := w.Append(t.Context(), write); err != nil {
		t.Fatal(err)
	}
}

func check(t *testing.T, store es.Maintainer, id es.AggregateID) []journalcheck.Finding {
	t.Helper()
	found, err := journalcheck.New(store, tested).Aggregate(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func wantKinds(t *testing.T, found []journalcheck.Finding, want ...string) {
	t.Helper()
	var kinds []string
	for _, finding := range found {
		kinds = append(kinds, finding.Kind)
		if finding.What == "" || finding.Expected == "" || finding.Found == "" || finding.Next == "" {
			t.Errorf("the finding lacks a text: %+v", finding)
		}
	}
	slices.Sort(kinds)
	slices.Sort(want)
	if !slices.Equal(kinds, want) {
		t.Errorf("found %v, want %v", kinds, want)
		for _, finding := range found {
			t.Logf("%+v", finding)
		}
	}
}
