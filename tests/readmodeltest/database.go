package readmodeltest

import (
	"database/sql"
	"database/sql/driver"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/jmoiron/sqlx"

	"example.com/threads/domain/ident"
	"example.com/threads/es/database"
	"example.com/threads/es/estest/testenv"
	"example.com/threads/es/migration"
	"example.com/threads/interfaceadaptor/readmodel/queryreader"
	rdbmigration "example.com/threads/rdb-migration"
	"example.com/threads/tests/kit"
)

// Database is an empty read model.
type Database struct {
	URL string // for programs that open it themselves
	DB  *sqlx.DB

	// Counted is another pool for the same database that counts the statements.
	Counted *sqlx.DB
	counter counter

	t      testing.TB
	worlds map[string]*World // by tenant // extra:chat
}

// Each runs a test on a new read model of every kind. more are the schemas of extras.
func Each(t *testing.T, run func(t *testing.T, db *Database), more ...migration.Set) {
	t.Helper()
	t.Run("SQLite", func(t *testing.T) { run(t, SQLite(t, more...)) })
	t.Run("MySQL", func(t *testing.T) { run(t, MySQL(t, more...)) })
}

// CaughtUp sets whether the read model has caught up with its journal once.
func (d *Database) CaughtUp(t *testing.T, caughtUp bool) {
	t.Helper()
	for _, statement := range []string{
		"DELETE FROM projection_reports",
		`INSERT INTO projection_reports (projection, caught_up, behind_micros, behind_records, at_least, reported_at) VALUES ('read-model', ?, 1500000, 7, 0, ?)`,
	} {
		args := []any{caughtUp, time.Now().UnixMicro()}
		if _, err := d.DB.ExecContext(t.Context(), statement, args[:strings.Count(statement, "?")]...); err != nil {
			t.Fatal(err)
		}
	}
}

// Statements returns the number of statements that went through Counted.
func (d *Database) Statements() int64 { return d.counter.statements.Load() }

func open(t *testing.T, address string, more []migration.Set) *Database {
	t.Helper()
	db, err := database.Open(t.Context(), address, database.Settings{Rebuildable: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	if _, err := migration.Up(t.Context(), db, append(rdbmigration.ReadModel(), more...)...); err != nil {
		t.Fatal(err)
	}
	d := &Database{URL: address, DB: db, t: t}
	d.worlds = map[string]*World{} // extra:chat
	d.CaughtUp(t, true)
	d.Counted = sqlx.NewDb(sql.OpenDB(connector{connectorOf(t, db, address), &d.counter}), db.DriverName())
	t.Cleanup(func() { _ = d.Counted.Close() })
	return d
}

// connectorOf returns a connector for reading that is configured like db.
func connectorOf(t *testing.T, db *sqlx.DB, address string) driver.Connector {
	t.Helper()
	if db.DriverName() == database.SQLite {
		return fileConnector{db.Driver(), "file:" + url.PathEscape(strings.TrimPrefix(address, "sqlite:")) + "?_pragma=busy_timeout(10000)"}
	}
	config, err := mysql.ParseDSN(address)
	if err != nil {
		t.Fatal(err)
	}
	config.InterpolateParams = true
	made, err := mysql.NewConnector(config)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// SQLite returns a new read model for tests that do not depend on the database.
func SQLite(t *testing.T, more ...migration.Set) *Database {
	t.Helper()
	return open(t, "sqlite:"+filepath.Join(t.TempDir(), "readmodel.db"), more)
}

// MySQL returns a new read model on MySQL or MariaDB, for tests of their behaviour.
func MySQL(t *testing.T, more ...migration.Set) *Database {
	t.Helper()
	return open(t, testenv.MySQL(t), more)
}

// NewReader returns a reader of the read model in db, which may be a Database's pool or another one.
func NewReader(t *testing.T, db *sqlx.DB) *queryreader.Reader {
	t.Helper()
	return queryreader.New(db)
}

// NewUser returns the id of a new user account.
func NewUser() ident.UserID { return kit.NewID[ident.UserAccount]() }
