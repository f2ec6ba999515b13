package rdbmigration_test

import (
	"errors"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/jmoiron/sqlx"

	"example.com/threads/infrastructure/database"
	rdbmigration "example.com/threads/rdb-migration"
	"example.com/threads/tests/testenv"
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

// sets are all sets with their tables.
var sets = map[string]struct {
	set    rdbmigration.Set
	tables []string
}{
	"read model":  {rdbmigration.ReadModel(), []string{"threads", "members", "messages", "checkpoints", "dead_letters", "projection_positions", "projection_types", "projection_reports"}},
	"event store": {rdbmigration.EventStore(), []string{"aggregates", "events", "snapshots", "receipts"}},
}

func TestUpAndDown(t *testing.T) {
	for name, one := range sets {
		t.Run(name, func(t *testing.T) {
			onEach(t, func(t *testing.T, db *sqlx.DB) { upAndDown(t, db, one.set, one.tables) })
		})
	}
}

func upAndDown(t *testing.T, db *sqlx.DB, set rdbmigration.Set, tables []string) {
	var behind *rdbmigration.VersionError
	if err := rdbmigration.Check(t.Context(), db, set); !errors.As(err, &behind) || !strings.Contains(err.Error(), "make migrate") {
		t.Errorf("an empty database passes: %v", err)
	}
	for round := range 2 {
		taken, err := rdbmigration.Up(t.Context(), db, set)
		if err != nil || len(taken) == 0 {
			t.Fatalf("round %d: up took %v, %v", round, taken, err)
		}
		if again, err := rdbmigration.Up(t.Context(), db, set); err != nil || len(again) != 0 {
			t.Errorf("up again took %v, %v", again, err)
		}
		if err := rdbmigration.Check(t.Context(), db, set); err != nil {
			t.Error(err)
		}
		for _, table := range tables {
			var rows int
			if err := db.GetContext(t.Context(), &rows, "SELECT COUNT(*) FROM "+table); err != nil || rows != 0 {
				t.Errorf("%d rows in %s, %v", rows, table, err)
			}
		}
		for range taken {
			if file, err := rdbmigration.Down(t.Context(), db, set); err != nil || file == "" {
				t.Fatalf("down: %q, %v", file, err)
			}
		}
		if file, err := rdbmigration.Down(t.Context(), db, set); err != nil || file != "" {
			t.Errorf("down with nothing left: %q, %v", file, err)
		}
		if _, err := db.ExecContext(t.Context(), "SELECT 1 FROM "+tables[0]); err == nil {
			t.Errorf("the table %s is still there", tables[0])
		}
	}
}

// The read model of the first version must continue where it was: with positions, dead letters, checkpoints and due
// repairs.
func TestProjectionsAreTakenOver(t *testing.T) {
	for name, one := range map[string]struct {
		checkpoints []string // shard and position
		types       string
		caughtUp    bool
	}{
		"that has been kept":     {[]string{"shard-1 after 7", "repair done"}, "thread 1", true},
		"that waits for repair":  {[]string{"shard-1 after 7", "repair due"}, "thread 0", true},
		"that nobody ever wrote": {nil, "", false},
	} {
		t.Run(name, func(t *testing.T) {
			onEach(t, func(t *testing.T, db *sqlx.DB) {
				readModel := rdbmigration.ReadModel()
				if _, err := rdbmigration.Up(t.Context(), db, readModel); err != nil {
					t.Fatal(err)
				}
				takeBack(t, db, readModel, "00002")
				exec := func(statement string, args ...any) {
					t.Helper()
					if _, err := db.ExecContext(t.Context(), statement, args...); err != nil {
						t.Fatal(err)
					}
				}
				for _, checkpoint := range one.checkpoints {
					shard, position, _ := strings.Cut(checkpoint, " ")
					exec("INSERT INTO checkpoints (source, shard, position, updated_at) VALUES ('arn', ?, ?, 1)", shard, position)
				}
				exec("INSERT INTO threads VALUES ('acme', 'A', 'a name', 'U', 7, 0, 1, 2), ('', 'B', 'another', 'U', 3, 1, 1, 2)")
				exec("INSERT INTO dead_letters VALUES ('acme', 'A', 8, 'E', ?, 'why', 2, 3, 4), ('', 'C', 1, '', ?, 'why', 1, 3, 4)", []byte("x"), []byte{})

				for range 2 { // after a migration back it is migrated again
					if taken, err := rdbmigration.Up(t.Context(), db, readModel); err != nil || len(taken) == 0 {
						t.Fatalf("up took %v, %v", taken, err)
					}
					expect := func(query string, want ...string) {
						t.Helper()
						var got []string
						if err := db.SelectContext(t.Context(), &got, query); err != nil || strings.Join(got, "; ") != strings.Join(want, "; ") {
							t.Errorf("%s: %q, %v, want %q", query, got, err, want)
						}
					}
					joined := func(columns ...string) string {
						if db.DriverName() == "sqlite" {
							return strings.Join(columns, " || ' ' || ")
						}
						return "CONCAT(" + strings.Join(columns, ", ' ', ") + ")"
					}
					expect("SELECT "+joined("projection", "tenant_code", "aggregate_type", "aggregate_id", "version", "parked")+" FROM projection_positions ORDER BY aggregate_id",
						"read-model acme thread A 7 1", "read-model  thread B 3 0", "read-model  thread C 0 1")
					expect("SELECT "+joined("id", "created_by", "updated_by", "source")+" FROM threads ORDER BY id", "A U U ", "B U U ")
					expect("SELECT "+joined("projection", "tenant_code", "aggregate_type", "aggregate_id", "seq_nr", "attempts")+" FROM dead_letters ORDER BY aggregate_id",
						"read-model acme thread A 8 2", "read-model  thread C 1 1")
					if one.caughtUp {
						expect("SELECT "+joined("projection", "source", "shard", "position")+" FROM checkpoints", "read-model arn shard-1 after 7")
						expect("SELECT "+joined("aggregate_type", "complete")+" FROM projection_types", one.types)
						expect("SELECT "+joined("projection", "caught_up")+" FROM projection_reports", "read-model 1")
					} else {
						expect("SELECT projection FROM projection_reports")
						expect("SELECT aggregate_type FROM projection_types")
					}
					takeBack(t, db, readModel, "00002")
					if strings.HasSuffix(one.types, "0") {
						exec("INSERT INTO checkpoints (source, shard, position, updated_at) VALUES ('arn', 'repair', 'due', 1)")
					}
				}
			})
		})
	}
}

// takeBack reverts migrations down to the one with this number.
func takeBack(t *testing.T, db *sqlx.DB, set rdbmigration.Set, number string) {
	t.Helper()
	for taken := ""; !strings.HasPrefix(taken, number); {
		var err error
		if taken, err = rdbmigration.Down(t.Context(), db, set); err != nil || taken == "" {
			t.Fatalf("take %s back: %q, %v", number, taken, err)
		}
	}
}

func TestSetsShareADatabase(t *testing.T) {
	onEach(t, func(t *testing.T, db *sqlx.DB) {
		for range 2 {
			for name, one := range sets {
				if _, err := rdbmigration.Up(t.Context(), db, one.set); err != nil {
					t.Fatal(name, err)
				}
			}
		}
		if _, err := rdbmigration.Down(t.Context(), db, rdbmigration.ReadModel()); err != nil {
			t.Fatal(err)
		}
		var stores []string
		if err := db.SelectContext(t.Context(), &stores, "SELECT store_id FROM event_queue"); err != nil || len(stores) != 1 || len(stores[0]) < 32 {
			t.Errorf("the event store's ids are %v, %v", stores, err)
		}
	})
}

func TestSchemaOfANewerProgramIsLeftAlone(t *testing.T) {
	onEach(t, func(t *testing.T, db *sqlx.DB) {
		set := rdbmigration.ReadModel()
		if _, err := rdbmigration.Up(t.Context(), db, set); err != nil {
			t.Fatal(err)
		}
		if _, err := db.ExecContext(t.Context(), "INSERT INTO readmodel_migrations (version_id, is_applied) VALUES (9999, 1)"); err != nil {
			t.Fatal(err)
		}
		_, upErr := rdbmigration.Up(t.Context(), db, set)
		_, downErr := rdbmigration.Down(t.Context(), db, set)
		for _, err := range []error{upErr, downErr, rdbmigration.Check(t.Context(), db, set)} {
			var newer *rdbmigration.VersionError
			if !errors.As(err, &newer) || newer.Found != 9999 || !strings.Contains(err.Error(), "run the newer program") {
				t.Errorf("got %v", err)
			}
		}
		if err := rdbmigration.Ready(t.Context(), db, set); err != nil {
			t.Errorf("Ready on a newer schema: %v", err)
		}
	})
}

func TestNobodyIsReadyBeforeTheMigration(t *testing.T) {
	onEach(t, func(t *testing.T, db *sqlx.DB) {
		var behind *rdbmigration.VersionError
		if err := rdbmigration.Ready(t.Context(), db, rdbmigration.ReadModel()); !errors.As(err, &behind) || behind.Found != 0 {
			t.Errorf("without a schema: %v", err)
		}
		if _, err := rdbmigration.Up(t.Context(), db, rdbmigration.ReadModel()); err != nil {
			t.Fatal(err)
		}
		if err := rdbmigration.Ready(t.Context(), db, rdbmigration.ReadModel()); err != nil {
			t.Error(err)
		}
	})
}

func TestMigrationsAtOnce(t *testing.T) {
	db := open(t, testenv.MySQL(t))
	var wait sync.WaitGroup
	for range 4 {
		wait.Go(func() {
			if _, err := rdbmigration.Up(t.Context(), db, rdbmigration.ReadModel()); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	if err := rdbmigration.Check(t.Context(), db, rdbmigration.ReadModel()); err != nil {
		t.Error(err)
	}
}
