// Package sqlitetest gives tests an event store and a read model in one SQLite file.
package sqlitetest

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/jmoiron/sqlx"

	"example.com/threads/es/database"
	"example.com/threads/es/migration"
	"example.com/threads/es/sqlstore"
	rdbmigration "example.com/threads/rdb-migration"
)

// New makes a file with both schemas and those of extras, and returns its URL and the open database. Both go when the
// test ends.
func New(t *testing.T, more ...migration.Set) (url string, db *sqlx.DB) {
	t.Helper()
	url = "sqlite:" + filepath.Join(t.TempDir(), "threads.db")
	db, err := database.Open(t.Context(), url, database.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	if _, err := migration.Up(t.Context(), db, slices.Concat(rdbmigration.ReadModel(), more, []migration.Set{sqlstore.Schema()})...); err != nil {
		t.Fatal(err)
	}
	return url, db
}
