package sqlstore_test

import (
	"testing"

	"github.com/jmoiron/sqlx"

	"example.com/threads/es"
	"example.com/threads/es/estest"
	"example.com/threads/es/sqlstore"
)

func TestMaintainer(t *testing.T) {
	onEach(t, func(t *testing.T, db *sqlx.DB) {
		const at = " WHERE tenant_code = ? AND aggregate_id = ?"
		estest.RunMaintainer(t, estest.Maintained{
			Harness: harness(db, newGateway(t, db, func(s *sqlstore.Settings) { s.SnapshotKeep = 5 }), nil),
			SpoilPointer: func(t *testing.T, id es.AggregateID) {
				byHand(t, db, "UPDATE aggregates SET snapshot_version = -1"+at, id.Tenant, id.String())
			},
			RemoveEntry: func(t *testing.T, id es.AggregateID, seqNr uint64) {
				byHand(t, db, "DELETE FROM events"+at+" AND version = ?", id.Tenant, id.String(), seqNr)
			},
		})
	})
}

func TestATypeThatIsNotTheAggregatesIsTold(t *testing.T) {
	onEach(t, func(t *testing.T, db *sqlx.DB) {
		gateway := newGateway(t, db)
		id := newID()
		mustAppend(t, gateway, write(id, 0, 2))
		byHand(t, db, "UPDATE aggregates SET type = 'wrong' WHERE aggregate_id = ?", id.String())
		byHand(t, db, "UPDATE events SET aggregate_type = 'wrong' WHERE aggregate_id = ? AND version = 2", id.String())
		head, err := gateway.StoredHead(t.Context(), id)
		if err != nil || len(head.Faults) != 1 || head.Faults[0] != (es.Fault{Field: "type", Expected: "notebook", Found: "wrong"}) {
			t.Errorf("%+v, %v", head, err)
		}
		for stored, err := range gateway.StoredEntries(t.Context(), id) {
			if err != nil || len(stored.Faults) != int(stored.SeqNr)-1 {
				t.Errorf("%+v, %v", stored, err)
			}
		}
		if err := gateway.ReplaceHead(t.Context(), id, head, es.Head{Version: 2}); err != nil {
			t.Fatal(err)
		}
		if head, err := gateway.StoredHead(t.Context(), id); err != nil || !head.Is(es.Head{Version: 2}) {
			t.Errorf("%+v, %v", head, err)
		}
	})
}

// byHand changes one row without foreign keys.
func byHand(t *testing.T, db *sqlx.DB, statement string, args ...any) {
	t.Helper()
	off, on := "PRAGMA foreign_keys = OFF", "PRAGMA foreign_keys = ON"
	if db.DriverName() == "mysql" {
		off, on = "SET foreign_key_checks = 0", "SET foreign_key_checks = 1"
	}
	conn, err := db.Connx(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	if _, err := conn.ExecContext(t.Context(), off); err != nil {
		t.Fatal(err)
	}
	result, err := conn.ExecContext(t.Context(), statement, args...)
	if err != nil {
		t.Fatal(err)
	}
	if rows, err := result.RowsAffected(); err != nil || rows != 1 {
		t.Fatalf("%s: %d rows, %v", statement, rows, err)
	}
	if _, err := conn.ExecContext(t.Context(), on); err != nil {
		t.Fatal(err)
	}
}
