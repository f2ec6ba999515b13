package erasure_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"example.com/threads/es"
	"example.com/threads/es/database"
	"example.com/threads/es/estest/testenv"
	"example.com/threads/es/migration"
	"example.com/threads/extras/erasure"
	"example.com/threads/extras/erasure/keystoretest"
)

func openKeys(t *testing.T, url string) (erasure.Store, *sqlx.DB) {
	t.Helper()
	db, err := database.Open(t.Context(), url, database.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	if _, err := migration.Up(t.Context(), db, erasure.Schema()); err != nil {
		t.Fatal(err)
	}
	store, err := erasure.NewRelationalStore(t.Context(), db)
	if err != nil {
		t.Fatal(err)
	}
	return store, db
}

func TestContractOnSQLite(t *testing.T) {
	store, _ := openKeys(t, "sqlite:"+filepath.Join(t.TempDir(), "events.db"))
	keystoretest.Run(t, store)
}

func TestContractOnMySQL(t *testing.T) {
	store, _ := openKeys(t, testenv.MySQL(t))
	keystoretest.Run(t, store)
}

// A new master key could not unwrap the keys that the lost one has wrapped: they are not shut out for ever by a start.
func TestALostFileOfTheMasterKey(t *testing.T) {
	folder := t.TempDir()
	_, db := openKeys(t, "sqlite:"+filepath.Join(folder, "events.db"))
	settings := erasure.Settings{On: true, File: filepath.Join(folder, "erasure.key"), MakeFile: true}
	keys, err := erasure.Open(t.Context(), settings, db)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := keys.Seal(t.Context(), es.Tenant(""), "ada", "message", "secret"); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(settings.File); err != nil {
		t.Fatal(err)
	}
	if _, err := erasure.Open(t.Context(), settings, db); err == nil || !strings.Contains(err.Error(), "bring it back from a backup") {
		t.Errorf("without the file: %v", err)
	}
	if _, err := os.Stat(settings.File); err == nil {
		t.Error("there is a new file")
	}
	if err := keys.Destroy(t.Context(), es.Tenant(""), "ada"); err != nil {
		t.Fatal(err)
	}
	if _, err := erasure.Open(t.Context(), settings, db); err != nil {
		t.Errorf("when nobody has a key: %v", err)
	}
}

// A destroyed key must not stay in any of SQLite's files while the database is open.
func TestNothingIsLeftInTheFilesOfSQLite(t *testing.T) {
	folder := t.TempDir()
	store, _ := openKeys(t, "sqlite:"+filepath.Join(folder, "events.db"))
	secret := strings.Repeat("wrapped key of ada ", 4)
	another := func(n int) { // enough of them, and SQLite moves rows to other pages
		if _, err := store.Create(t.Context(), es.Tenant(""), fmt.Sprint("owner ", n), []byte(strings.Repeat("k", len(secret)))); err != nil {
			t.Fatal(err)
		}
	}
	for n := range 20 {
		another(n)
	}
	if _, err := store.Create(t.Context(), es.Tenant(""), "ada", []byte(secret)); err != nil {
		t.Fatal(err)
	}
	for n := range 200 {
		another(20 + n)
	}
	if !inFiles(t, folder, secret) {
		t.Fatal("the search does not find a key that is there")
	}
	if err := store.Destroy(t.Context(), es.Tenant(""), "ada", time.Now()); err != nil {
		t.Fatal(err)
	}
	if inFiles(t, folder, secret) {
		t.Error("the key is still in a file")
	}
}

func inFiles(t *testing.T, folder, words string) bool {
	t.Helper()
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		content, err := os.ReadFile(filepath.Join(folder, entry.Name()))
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(content, []byte(words)) {
			return true
		}
	}
	return false
}
