package migration_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/jmoiron/sqlx"

	"example.com/threads/es/database"
	"example.com/threads/es/estest/testenv"
	"example.com/threads/es/migration"
	"example.com/threads/es/rowstore"
	"example.com/threads/es/sqlstore"
)

// onEach runs test on an empty database of every kind.
func onEach(t *testing.T, test func(t *testing.T, db *sqlx.DB)) {
	t.Run("mysql", func(t *testing.T) { test(t, open(t, testenv.MySQL(t))) })
	t.Run("sqlite", func(t *testing.T) { test(t, open(t, "sqlite:"+filepath.Join(t.TempDir(), "rows.db"))) })
}

func open(t *testing.T, url string) *sqlx.DB {
	t.Helper()
	db, err := database.Open(t.Context(), url, database.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// sets are all sets of the library, with their tables.
var sets = map[string]struct {
	set    migration.Set
	tables []string
}{
	"projections": {rowstore.Schema(), []string{"checkpoints", "dead_letters", "projection_positions", "projection_types", "projection_reports", "process_commands"}},
	"event store": {sqlstore.Schema(), []string{"aggregates", "events", "snapshots", "receipts"}},
}

func TestUpAndDown(t *testing.T) {
	for name, one := range sets {
		t.Run(name, func(t *testing.T) {
			onEach(t, func(t *testing.T, db *sqlx.DB) { upAndDown(t, db, one.set, one.tables) })
		})
	}
}

func upAndDown(t *testing.T, db *sqlx.DB, set migration.Set, tables []string) {
	if err := migration.Check(t.Context(), db, set); err == nil || !strings.Contains(err.Error(), "migrate the database first") {
		t.Errorf("an empty database passes: %v", err)
	}
	for round := range 2 {
		taken, err := migration.Up(t.Context(), db, set)
		if err != nil || len(taken) == 0 {
			t.Fatalf("round %d: up took %v, %v", round, taken, err)
		}
		if again, err := migration.Up(t.Context(), db, set); err != nil || len(again) != 0 {
			t.Errorf("up again took %v, %v", again, err)
		}
		if err := migration.Check(t.Context(), db, set); err != nil {
			t.Error(err)
		}
		for _, table := range tables {
			var rows int
			if err := db.GetContext(t.Context(), &rows, "SELECT COUNT(*) FROM "+table); err != nil || rows != 0 {
				t.Errorf("%d rows in %s, %v", rows, table, err)
			}
		}
		for range taken {
			if file, err := migration.Down(t.Context(), db, set); err != nil || file == "" {
				t.Fatalf("down: %q, %v", file, err)
			}
		}
		if file, err := migration.Down(t.Context(), db, set); err != nil || file != "" {
			t.Errorf("down with nothing left: %q, %v", file, err)
		}
		if _, err := db.ExecContext(t.Context(), "SELECT 1 FROM "+tables[0]); err == nil {
			t.Errorf("the table %s is still there", tables[0])
		}
	}
}

func TestSetsShareADatabase(t *testing.T) {
	onEach(t, func(t *testing.T, db *sqlx.DB) {
		for range 2 {
			for name, one := range sets {
				if _, err := migration.Up(t.Context(), db, one.set); err != nil {
					t.Fatal(name, err)
				}
			}
		}
		if _, err := migration.Down(t.Context(), db, rowstore.Schema()); err != nil {
			t.Fatal(err)
		}
		var stores []string
		if err := db.SelectContext(t.Context(), &stores, "SELECT store_id FROM event_queue"); err != nil || len(stores) != 1 || len(stores[0]) < 32 {
			t.Errorf("the event store's ids are %v, %v", stores, err)
		}
	})
}

// A migration may be killed between what it does and the record of it, at each of its steps.
func TestAMigrationThatWasKilledGoesOn(t *testing.T) {
	for name, one := range sets {
		t.Run(name, func(t *testing.T) {
			db := open(t, testenv.MySQL(t))
			all, err := migration.Up(t.Context(), db, one.set)
			if err != nil {
				t.Fatal(err)
			}
			for unrecorded := 1; unrecorded <= len(all)+1; unrecorded++ { // with goose's own step, version 0
				lost := fmt.Sprintf("DELETE FROM %s ORDER BY version_id DESC LIMIT %d", one.set.Table, unrecorded)
				if _, err := db.ExecContext(t.Context(), lost); err != nil {
					t.Fatal(err)
				}
				if taken, err := migration.Up(t.Context(), db, one.set); err != nil || len(taken) != min(unrecorded, len(all)) {
					t.Errorf("without the records of %d steps, up took %v: %v", unrecorded, taken, err)
				}
				if err := migration.Check(t.Context(), db, one.set); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// While a newer release replaces this one, and after a roll-back, this program runs on the schema of the newer one.
func TestSchemaOfANewerProgramIsLeftAlone(t *testing.T) {
	onEach(t, func(t *testing.T, db *sqlx.DB) {
		set := rowstore.Schema()
		if _, err := migration.Up(t.Context(), db, set); err != nil {
			t.Fatal(err)
		}
		if _, err := db.ExecContext(t.Context(), "INSERT INTO projections_migrations (version_id, is_applied) VALUES (9999, 1)"); err != nil {
			t.Fatal(err)
		}
		if taken, err := migration.Up(t.Context(), db, set); err != nil || len(taken) > 0 {
			t.Errorf("up took %v, %v", taken, err)
		}
		if err := migration.Check(t.Context(), db, set); err != nil {
			t.Error(err)
		}
	})
}

func TestMigrationsAtOnce(t *testing.T) {
	db := open(t, testenv.MySQL(t))
	var wait sync.WaitGroup
	for range 4 {
		wait.Go(func() {
			if _, err := migration.Up(t.Context(), db, rowstore.Schema()); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	if err := migration.Check(t.Context(), db, rowstore.Schema()); err != nil {
		t.Error(err)
	}
}
