package database_test

import (
	"bytes"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"

	"example.com/threads/es/database"
	"example.com/threads/es/estest/testenv"
)

// SQLite's memory is not Go's: in a small container, the page caches of all connections must be small together.
func TestPageCachesShareTheMemory(t *testing.T) {
	before := debug.SetMemoryLimit(-1)
	t.Cleanup(func() { debug.SetMemoryLimit(before) })
	for limit, want := range map[int64]int{128 << 20: 1 << 20, 128 << 30: 16 << 20} {
		debug.SetMemoryLimit(limit)
		db, err := database.Open(t.Context(), "sqlite:"+filepath.Join(t.TempDir(), "pages.db"), database.Settings{})
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = db.Close() }()
		var size int
		if err := db.GetContext(t.Context(), &size, "PRAGMA cache_size"); err != nil || size != -want>>10 {
			t.Errorf("with %d bytes: cache_size %d, %v; want %d KiB", limit, size, err, want>>10)
		}
	}
}

func TestSettingsOfSQLite(t *testing.T) {
	path := filepath.Join(t.TempDir(), "with space.db")
	for _, c := range []struct {
		settings    database.Settings
		synchronous int
	}{{database.Settings{}, 2}, {database.Settings{Rebuildable: true}, 1}} {
		db, err := database.Open(t.Context(), "sqlite:"+path, c.settings)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = db.Close() }()
		var journal string
		var synchronous, timeout int
		if err := db.GetContext(t.Context(), &journal, "PRAGMA journal_mode"); err != nil || journal != "wal" {
			t.Errorf("journal_mode %q, %v", journal, err)
		}
		if err := db.GetContext(t.Context(), &synchronous, "PRAGMA synchronous"); err != nil || synchronous != c.synchronous {
			t.Errorf("synchronous %d, %v; want %d", synchronous, err, c.synchronous)
		}
		if err := db.GetContext(t.Context(), &timeout, "PRAGMA busy_timeout"); err != nil || timeout != 10000 {
			t.Errorf("busy_timeout %d, %v", timeout, err)
		}
		if db.DriverName() != database.SQLite {
			t.Errorf("driver %q", db.DriverName())
		}
	}
	if _, err := os.Stat(path); err != nil {
		t.Errorf("the file is not at its path: %v", err)
	}
}

func TestTheFileIsWhereThePathSays(t *testing.T) {
	for name, file := range map[string]string{
		"sqlite:a#b.db":                 "a#b.db",
		"sqlite:x?y.db":                 "x?y.db",
		"sqlite:x.db?mode=memory":       "x.db?mode=memory",
		"sqlite:p%41q.db":               "p%41q.db",
		"sqlite:100%.db":                "100%.db",
		"sqlite:%23 #?&=+%3F茶.db":       "%23 #?&=+%3F茶.db",
		"sqlite:/FOLDER/two slashes.db": "two slashes.db",
		"file:a%23b%3fc%2541d.db":       "a#b?c%41d.db",
		"file:x.db?mode=rwc":            "x.db",
		"file:x.db#y":                   "x.db",
	} {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			t.Chdir(folder)
			db, err := database.Open(t.Context(), strings.ReplaceAll(name, "FOLDER", folder), database.Settings{})
			if err != nil {
				t.Fatal(err)
			}
			if err := db.Close(); err != nil {
				t.Error(err)
			}
			files, err := os.ReadDir(folder)
			if err != nil || len(files) != 1 || files[0].Name() != file {
				t.Errorf("found %v, %v; want %s", files, err, file)
			}
		})
	}
}

func TestParametersOfTheURIGoFirst(t *testing.T) {
	db, err := database.Open(t.Context(), "file:"+url.PathEscape(filepath.Join(t.TempDir(), "a.db"))+"?_pragma=busy_timeout(77)", database.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	var timeout int
	if err := db.GetContext(t.Context(), &timeout, "PRAGMA busy_timeout"); err != nil || timeout != 77 {
		t.Errorf("busy_timeout %d, %v", timeout, err)
	}
}

func TestSettingsOfMySQL(t *testing.T) {
	db, err := database.Open(t.Context(), testenv.MySQL(t), database.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	for variable, want := range map[string]string{
		"sql_mode": "STRICT_ALL_TABLES", "time_zone": "+00:00", "collation_connection": "utf8mb4_bin", "innodb_lock_wait_timeout": "10",
	} {
		var got string
		if err := db.GetContext(t.Context(), &got, "SELECT @@SESSION."+variable); err != nil || !strings.Contains(got, want) {
			t.Errorf("%s is %q, %v; want %q", variable, got, err, want)
		}
	}
}

func TestErrorsSayWhatToDo(t *testing.T) {
	folder := t.TempDir()
	text := filepath.Join(folder, "letter.txt")
	if err := os.WriteFile(text, bytes.Repeat([]byte("no database "), 100), 0o600); err != nil {
		t.Fatal(err)
	}
	for dsn, want := range map[string]string{
		"":                           "no database is set",
		"nonsense":                   "expected user:password@tcp",
		"root:s3cret@tcp(127.0.0.1)": "expected user:password@tcp",
		"root:s3cret@tcp(127.0.0.1:1)/notes?timeout=1s": "no answer from the database server at tcp(127.0.0.1:1)",
		"sqlite:":                            "names no file",
		"sqlite::memory:":                    "names no file",
		"sqlite::memory:?cache=shared":       "names no file",
		"file:?mode=rwc":                     "names no file",
		"file:#a.db":                         "names no file",
		"file::memory:":                      "names no file",
		"file:a.db?cache=shared&mode=memory": "names no file",
		"file:a.db?mode=%zz":                 `parameters of the database file "a.db"`,
		"sqlite:" + folder + "/none/a.db":    "create its folder",
		"sqlite:" + folder + "/no#?%41/a.db": folder + `/no#?%41/a.db" can't be written: create its folder`,
		"sqlite:" + text:                     "is not a SQLite database",
	} {
		expectError(t, dsn, want)
	}
}

func TestDriverOf(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "none", "a.db")
	for dsn, want := range map[string]string{
		"sqlite:" + missing:                             database.SQLite,
		"file:" + url.PathEscape(missing) + "?mode=rwc": database.SQLite,
		"user:s3cret@tcp(127.0.0.1:1)/notes":            database.MySQL,
		"":                                              "",
		"sqlite:":                                       "",
		"user:s3cret@tcp(127.0.0.1)/":                   "",
		"nonsense":                                      "",
	} {
		got, err := database.DriverOf(dsn)
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%q: %q, %v", dsn, got, err)
		}
	}
	if _, err := os.Stat(filepath.Dir(missing)); err == nil {
		t.Error("a file was created")
	}
}

func TestErrorsOfAMySQLServerSayWhatToDo(t *testing.T) {
	config, err := mysql.ParseDSN(testenv.MySQL(t))
	if err != nil {
		t.Fatal(err)
	}
	nobody := config.Clone()
	nobody.User, nobody.Passwd = "nobody_known", "s3cret"
	expectError(t, nobody.FormatDSN(), `denied the user "nobody_known"`)
	nowhere := config.Clone()
	nowhere.DBName = "no_such_database"
	expectError(t, nowhere.FormatDSN(), "CREATE DATABASE no_such_database")
}

func expectError(t *testing.T, dsn, want string) {
	t.Helper()
	db, err := database.Open(t.Context(), dsn, database.Settings{Logger: slog.New(slog.DiscardHandler)})
	switch {
	case err == nil:
		_ = db.Close()
		t.Errorf("%s opened", dsn)
	case !strings.Contains(err.Error(), want):
		t.Errorf("%s: %v; want %q", dsn, err, want)
	case strings.Contains(err.Error(), "s3cret"):
		t.Errorf("the error contains the password: %v", err)
	}
}
