package rowstore_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/jmoiron/sqlx"

	"example.com/threads/es"
	"example.com/threads/es/database"
	"example.com/threads/es/estest/testenv"
	"example.com/threads/es/migration"
	"example.com/threads/es/projection"
	"example.com/threads/es/projection/projectiontest"
	"example.com/threads/es/rowstore"
	"example.com/threads/es/rowstore/table"
)

func TestContractOnMySQL(t *testing.T) {
	projectiontest.Run(t, func(t *testing.T) projectiontest.Database { return open(t, testenv.MySQL(t)) })
}

func TestContractOnSQLite(t *testing.T) {
	projectiontest.Run(t, func(t *testing.T) projectiontest.Database {
		return open(t, "sqlite:"+filepath.Join(t.TempDir(), "rows.db"))
	})
}

// The longest name has room for a rebuild, too.
func TestNames(t *testing.T) {
	db := open(t, testenv.MySQL(t)).db
	for name, valid := range map[string]bool{
		"p": true, strings.Repeat("p", 50): true, "": false, strings.Repeat("p", 51): false, "two words": true, "two\nlines": false, "café": false,
		"set@2": false,
	} {
		store, err := rowstore.New(db, name)
		if (err == nil) != valid {
			t.Errorf("%q: %v", name, err)
		}
		if err != nil {
			continue
		}
		ctx, stop := context.WithCancel(t.Context())
		journal := slowJournal{begun: make(chan struct{}, 1)}
		go func() {
			select {
			case <-journal.begun:
				stop()
			case <-ctx.Done():
			}
		}()
		if err := (&rowstore.Rebuild{Store: store, Journal: journal}).Start(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("a rebuild of %q: %v", name, err)
		}
		stop()
	}
}

// Two projections in one database must not affect each other.
func TestProjectionsBesideEachOther(t *testing.T) {
	one := open(t, testenv.MySQL(t))
	other, err := rowstore.New(one.db, "another")
	if err != nil {
		t.Fatal(err)
	}
	key := es.AggregateID{Type: "order", ID: "01H42KBHCW1BZG504J4ZXKA2F2"}
	err = one.Change(t.Context(), func(ctx context.Context, tx projection.Tx) error {
		return tx.Save(ctx, projection.Changes{
			Positions: map[es.AggregateID]projection.Position{key: {Version: 3, Parked: &projection.DeadLetter{Key: key, SeqNr: 4}}},
			Types:     []projection.Type{{Name: "order"}}, Checkpoint: projection.Checkpoint{Source: "s", Shard: "0", Position: "1"},
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	versions, err1 := other.Versions(t.Context(), []es.AggregateID{key})
	types, err2 := other.Types(t.Context())
	stored, err3 := other.Checkpoints(t.Context(), "s")
	parked, err4 := other.CountParked(t.Context())
	if len(versions)+len(types)+len(stored)+parked > 0 || err1 != nil || err2 != nil || err3 != nil || err4 != nil {
		t.Errorf("the other projection has %v, %v, %v and %d parked: %v, %v, %v, %v", versions, types, stored, parked, err1, err2, err3, err4)
	}
}

// Whoever stops a change just before its commit must read in the error that it was stopped, not that SQL failed.
func TestAChangeEndsWithItsContext(t *testing.T) {
	db := open(t, testenv.MySQL(t))
	ctx, stop := context.WithCancel(t.Context())
	err := db.Change(ctx, func(_ context.Context, tx projection.Tx) (err error) {
		stop()
		for err == nil { // until the transaction is rolled back
			_, err = rowstore.SQL(tx).ExecContext(t.Context(), "SELECT 1")
		}
		return nil
	})
	if !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestReports(t *testing.T) {
	db := open(t, testenv.MySQL(t))
	for _, report := range []struct{ told, known rowstore.Report }{
		{rowstore.Report{Lag: projection.Lag{Behind: 1500, Records: 3, AtLeast: true}}, rowstore.Report{}},
		{rowstore.Report{CaughtUp: true}, rowstore.Report{CaughtUp: true}},
		{rowstore.Report{Lag: projection.Lag{Records: 9}}, rowstore.Report{CaughtUp: true}},
	} {
		caughtUp, err := db.SaveReport(t.Context(), report.told)
		found, readErr := rowstore.ReadReport(t.Context(), db.db, "test")
		if err != nil || readErr != nil || caughtUp != report.known.CaughtUp || found.CaughtUp != caughtUp || found.Records != report.told.Records {
			t.Errorf("%+v, %t: %v, %v", found, caughtUp, err, readErr)
		}
	}
	if found, err := rowstore.ReadReport(t.Context(), db.db, "another"); err != nil || found.CaughtUp {
		t.Errorf("a projection that never ran: %+v, %v", found, err)
	}
}

// Whoever adds a field to a row must read which table lacks its column, and what adds one.
func TestAMissingColumn(t *testing.T) {
	t.Run("mysql", func(t *testing.T) { withoutAColumn(t, open(t, testenv.MySQL(t))) })
	t.Run("sqlite", func(t *testing.T) { withoutAColumn(t, open(t, "sqlite:"+filepath.Join(t.TempDir(), "rows.db"))) })
}

func withoutAColumn(t *testing.T, db *fixture) {
	type row struct {
		lineRow
		Author string `db:"author"`
	}
	rows := table.Of[row]("ledger_lines", 2)
	primary := func(key [2]string) [2]string { return key }
	for doing, do := range map[string]func(ctx context.Context, tx projection.Tx) error{
		"read": func(ctx context.Context, tx projection.Tx) error {
			return rowstore.Load(ctx, tx, rows, map[[2]string]row{{}: {}}, primary)
		},
		"write": func(ctx context.Context, tx projection.Tx) error {
			return rowstore.Save(ctx, tx, rows, map[[2]string]row{{}: {}})
		},
	} {
		err := db.Change(t.Context(), do)
		if said := fmt.Sprint(err); !strings.HasPrefix(said, doing+" ledger_lines: ") || !strings.Contains(said, "author") ||
			!strings.HasSuffix(said, ": a migration must add the column") {
			t.Errorf("%s: %v", doing, err)
		}
	}
}

// fixture is a store whose database also has the suite's rows, and can be made to refuse them.
type fixture struct {
	*rowstore.Store
	db *sqlx.DB
}

func open(t *testing.T, url string) *fixture {
	t.Helper()
	db, err := database.Open(t.Context(), url, database.Settings{Rebuildable: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	if _, err := migration.Up(t.Context(), db, rowstore.Schema()); err != nil {
		t.Fatal(err)
	}
	_, err = db.ExecContext(t.Context(), `CREATE TABLE ledger_lines (tenant_code VARCHAR(32), type VARCHAR(64), ledger CHAR(26), seq_nr CHAR(20), text TEXT, edits INT,
		PRIMARY KEY (tenant_code, type, ledger, seq_nr))`)
	if err != nil {
		t.Fatal(err)
	}
	store, err := rowstore.New(db, "test")
	if err != nil {
		t.Fatal(err)
	}
	return &fixture{Store: store, db: db}
}

type lineRow struct {
	Ledger es.AggregateID `db:"tenant_code,type,ledger"`
	SeqNr  uint64         `db:"seq_nr"`
	Text   string         `db:"text"`
	Edits  int            `db:"edits"`
}

var lineRows = table.Of[lineRow]("ledger_lines", 4)

func primary(id projectiontest.LineID) []string {
	return []string{id.Ledger.Tenant.String(), id.Ledger.Type, id.Ledger.ID, strconv.FormatUint(id.SeqNr, 10)}
}

func (f *fixture) LoadLines(ctx context.Context, tx projection.Tx, ids []projectiontest.LineID) (map[projectiontest.LineID]projectiontest.Line, error) {
	found := make(map[projectiontest.LineID]projectiontest.Line)
	in := rowstore.SQL(tx)
	keys := make([][]string, len(ids))
	for i, id := range ids {
		keys[i] = primary(id)
	}
	err := lineRows.Load(ctx, in, keys, "", func(row lineRow) {
		found[projectiontest.LineID{Ledger: row.Ledger, SeqNr: row.SeqNr}] = projectiontest.Line{Text: row.Text, Edits: row.Edits}
	})
	return found, in.Explain("read lines", err)
}

func (f *fixture) SaveLines(ctx context.Context, tx projection.Tx, lines map[projectiontest.LineID]projectiontest.Line) error {
	in := rowstore.SQL(tx)
	rows := make([]lineRow, 0, len(lines))
	for id, line := range lines {
		rows = append(rows, lineRow{id.Ledger, id.SeqNr, line.Text, line.Edits})
	}
	return in.Explain("write lines", lineRows.Upsert(ctx, in, in.Dialect, rows))
}

func (f *fixture) Refuse(t *testing.T, text string) {
	t.Helper()
	statements := []string{"DROP TRIGGER IF EXISTS refuse"}
	if text != "" {
		body := map[string]string{
			"mysql":  "IF NEW.text = '" + text + "' THEN SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'refused'; END IF",
			"sqlite": "WHEN NEW.text = '" + text + "' BEGIN SELECT RAISE(ABORT, 'refused'); END",
		}[f.db.DriverName()]
		statements = append(statements, "CREATE TRIGGER refuse BEFORE INSERT ON ledger_lines FOR EACH ROW "+body)
	}
	for _, statement := range statements {
		if _, err := f.db.ExecContext(t.Context(), statement); err != nil {
			t.Fatalf("%s: %v", strings.SplitN(statement, " ON ", 2)[0], err)
		}
	}
}
