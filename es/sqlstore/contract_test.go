package sqlstore_test

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/jmoiron/sqlx"

	"example.com/threads/es"
	"example.com/threads/es/archive/archivetest"
	"example.com/threads/es/estest"
	"example.com/threads/es/estest/testenv"
	"example.com/threads/es/sqlstore"
)

func TestContractOnSQLite(t *testing.T) { wholeContract(t, onSQLite) }
func TestContractOnMySQL(t *testing.T)  { wholeContract(t, onMySQL) }

// What was moved to an archive reads as before.
func TestContractOfAnArchive(t *testing.T) {
	var moved atomic.Int64
	estest.Run(t, func(t *testing.T, settings estest.Settings) estest.Harness {
		opened := onSQLite(t, settings)
		opened.Gateway = archivetest.Eager(t, opened.Gateway.(es.Store), &moved)
		return opened
	})
	if moved.Load() < 100 {
		t.Errorf("%d events were moved", moved.Load())
	}
}

func wholeContract(t *testing.T, open estest.Open) {
	estest.Run(t, open)
	estest.RunJournal(t, open)
	estest.RunSequences(t, open)
	estest.RunSpool(t, open)
}

// onMySQL loses answers in the network.
func onMySQL(t *testing.T, settings estest.Settings) estest.Harness {
	dsn, network := throughProxy(t, testenv.MySQL(t))
	db := open(t, dsn)
	return harness(db, distant{newGateway(t, db, keeping(settings)), network}, network.loseNextCommit)
}

// onSQLite loses answers in the driver. Meanwhile another gateway writes, like another process, because the writer that
// waits for its answer can write nothing else.
func onSQLite(t *testing.T, settings estest.Settings) estest.Harness {
	db, fault := openFaulty(t)
	main := &detour{Store: newGateway(t, db, keeping(settings))}
	other := newGateway(t, db, keeping(settings))
	return harness(db, main, func(meanwhile func()) {
		fault.loseNextCommit(func() {
			main.other.Store(other)
			meanwhile()
			main.other.Store(nil)
		})
	})
}

func keeping(settings estest.Settings) func(*sqlstore.Settings) {
	return func(s *sqlstore.Settings) {
		s.SnapshotKeep, s.OwnerBytes, s.TenantBytes = settings.KeepSnapshots, settings.OwnerBytes, settings.TenantBytes
	}
}

// harness adds the faults that are the same for every database.
func harness(db *sqlx.DB, gateway es.Store, lose func(func())) estest.Harness {
	const of = " WHERE tenant_code = ? AND aggregate_id = ?"
	const at = of + " AND version = ?"
	return estest.Harness{
		Gateway:        gateway,
		LoseNextAnswer: lose,
		HideEntries:    estest.NothingLags,
		SetHead: func(t *testing.T, id es.AggregateID, head es.Head) {
			t.Helper()
			if head == (es.Head{}) {
				byHand(t, db, "DELETE FROM aggregates"+of, id.Tenant, id.String())
				return
			}
			byHand(t, db, "UPDATE aggregates SET version = ?, snapshot_version = ?"+of, head.Version, head.SnapshotVersion, id.Tenant, id.String())
		},
		DamageSnapshot: func(t *testing.T, id es.AggregateID, version uint64) {
			t.Helper()
			var stored []byte
			if err := db.GetContext(t.Context(), &stored, "SELECT snapshot FROM snapshots"+at, id.Tenant, id.String(), version); err != nil {
				t.Fatal(err)
			}
			stored[len(stored)/2]++
			byHand(t, db, "UPDATE snapshots SET snapshot = ?"+at, stored, id.Tenant, id.String(), version)
		},
		RemoveSnapshot: func(t *testing.T, id es.AggregateID, version uint64) {
			t.Helper()
			byHand(t, db, "DELETE FROM snapshots"+at, id.Tenant, id.String(), version)
		},
	}
}

// distant is a gateway that reaches its database through a proxy.
type distant struct {
	es.Store
	network *proxy
}

func (d distant) Append(ctx context.Context, write es.Append) error {
	defer d.network.settle()
	return d.Store.Append(ctx, write)
}

// detour is a gateway whose writes can go to another gateway for a while.
type detour struct {
	es.Store
	other atomic.Pointer[sqlstore.Gateway]
}

func (d *detour) Append(ctx context.Context, write es.Append) error {
	if other := d.other.Load(); other != nil {
		return other.Append(ctx, write)
	}
	return d.Store.Append(ctx, write)
}

func (d *detour) RemoveEntries(ctx context.Context, id es.AggregateID, first, last uint64) error {
	if other := d.other.Load(); other != nil {
		return other.RemoveEntries(ctx, id, first, last)
	}
	return d.Store.RemoveEntries(ctx, id, first, last)
}
