package database

import (
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/jmoiron/sqlx"
	"modernc.org/sqlite"
)

const sqliteExample = "sqlite:data/readmodel.db"

// openSQLite knows a file by its path (sqlite:path), which is taken as it is, or by its URI (file:path?parameters), whose
// author has escaped what means something there.
func openSQLite(name string, settings Settings) (*pool, error) {
	var uri, parameters string
	path, isPath := strings.CutPrefix(name, "sqlite:")
	if isPath {
		uri = "file:" + url.PathEscape(path)
	} else {
		uri, _, _ = strings.Cut(name, "#") // SQLite does not read the fragment
		uri, parameters, _ = strings.Cut(uri, "?")
		path = strings.TrimPrefix(uri, "file:")
	}
	asked, err := url.ParseQuery(parameters)
	if err != nil {
		return nil, fmt.Errorf("the parameters of the database file %q can't be read: %w", path, err)
	}
	if path == "" || strings.HasPrefix(path, ":memory:") || slices.Contains(asked["mode"], "memory") {
		return nil, fmt.Errorf("%q names no file: expected %s; a database in memory alone would be another one on every connection", name, sqliteExample)
	}

	dsn := uri + "?" + sqliteParameters(asked, settings).Encode()
	connector, err := sqlite.NewConnector(dsn)
	if err != nil {
		return nil, fmt.Errorf("the database file %q can't be used: %w", path, err)
	}
	return &pool{db: sqlx.NewDb(sql.OpenDB(preparing{connector}), SQLite), explain: func(err error) error { return explainSQLite(path, err) }}, nil
}

// sqliteParameters are the driver's parameters for every connection. What the URI asks for goes before ours.
func sqliteParameters(asked url.Values, settings Settings) url.Values {
	synchronous := "FULL"
	if settings.Rebuildable {
		synchronous = "NORMAL"
	}
	pragmas := []string{
		"busy_timeout(10000)", // first, so that the others wait, too
		"journal_mode(WAL)",   // readers and the writer do not wait for each other
		"synchronous(" + synchronous + ")",
		"foreign_keys(1)",
		"cache_size(-16384)", // KiB a connection
		"temp_store(MEMORY)", // what a savepoint may take back is kept there, and not in a file
	}
	for _, pragma := range asked["_pragma"] {
		name, _, _ := strings.Cut(pragma, "(")
		pragmas = slices.DeleteFunc(pragmas, func(ours string) bool { return strings.HasPrefix(ours, name+"(") })
	}
	parameters := maps.Clone(asked)
	parameters["_pragma"] = append(pragmas, asked["_pragma"]...)
	if !asked.Has("_txlock") {
		parameters.Set("_txlock", "immediate") // a transaction that writes takes the lock at once; one that only reads takes none
	}
	return parameters
}

const (
	sqliteReadOnly  = 8
	sqliteCantOpen  = 14
	sqliteNotADB    = 26
	sqliteClassMask = 0xff
)

func explainSQLite(path string, err error) error {
	var failed interface{ Code() int }
	if !errors.As(err, &failed) {
		return fmt.Errorf("the database file %q does not open: %w", path, err)
	}
	switch failed.Code() & sqliteClassMask {
	case sqliteCantOpen, sqliteReadOnly:
		return fmt.Errorf("the database file %q can't be written: make its folder, or give this user the right to write there: %w", path, err)
	case sqliteNotADB:
		return fmt.Errorf("the file %q is no SQLite database: name another one, or move it away: %w", path, err)
	default:
		return fmt.Errorf("the database file %q does not open: %w", path, err)
	}
}
