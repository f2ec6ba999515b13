package database

import (
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/jmoiron/sqlx"
	"github.com/ncruces/go-sqlite3"
	"github.com/ncruces/go-sqlite3/driver"

	"example.com/threads/es/memlimit"
)

const sqliteExample = "sqlite:data/readmodel.db"

// openSQLite accepts a literal path (sqlite:path), or a URI (file:path?parameters); see [Open].
func openSQLite(name string, settings Settings) (*sqlx.DB, func(error) error, error) {
	var uri, parameters string
	path, isPath := strings.CutPrefix(name, "sqlite:")
	if isPath {
		uri = "file:" + url.PathEscape(path)
	} else {
		uri, _, _ = strings.Cut(name, "#") // SQLite ignores the fragment
		uri, parameters, _ = strings.Cut(uri, "?")
		path = strings.TrimPrefix(uri, "file:")
	}
	asked, err := url.ParseQuery(parameters)
	if err != nil {
		return nil, nil, fmt.Errorf("the parameters of the database file %q are malformed: %w", path, err)
	}
	if path == "" || strings.HasPrefix(path, ":memory:") || slices.Contains(asked["mode"], "memory") {
		return nil, nil, fmt.Errorf("%q names no file: expected %s; an in-memory database would be a different one on every connection", name, sqliteExample)
	}

	dsn := uri + "?" + sqliteParameters(asked, settings).Encode()
	connector, err := new(driver.SQLite).OpenConnector(dsn)
	if err != nil {
		return nil, nil, fmt.Errorf("the database file %q can't be used: %w", path, err)
	}
	explain := func(err error) error { return explainSQLite(path, settings.MustExist, err) }
	return sqlx.NewDb(open(preparing{connector}, settings.Tracer), SQLite), explain, nil
}

// sqliteParameters returns the driver's parameters for every connection. Parameters in the URI take precedence.
func sqliteParameters(asked url.Values, settings Settings) url.Values {
	synchronous := "FULL"
	if settings.Rebuildable {
		synchronous = "NORMAL"
	}
	pragmas := []string{
		"busy_timeout(10000)", // first, so that the other pragmas wait too
		"journal_mode(WAL)",   // readers and the writer do not wait for each other
		"synchronous(" + synchronous + ")",
		"foreign_keys(1)",
		"secure_delete(1)",                                // what is deleted, or moved to another page, is overwritten
		fmt.Sprintf("cache_size(-%d)", sqliteCache()>>10), // KiB
		"temp_store(MEMORY)",                              // savepoints keep their undo data in memory, not in a file
	}
	for _, pragma := range asked["_pragma"] {
		name, _, _ := strings.Cut(pragma, "(")
		pragmas = slices.DeleteFunc(pragmas, func(ours string) bool { return strings.HasPrefix(ours, name+"(") })
	}
	parameters := maps.Clone(asked)
	parameters["_pragma"] = append(pragmas, asked["_pragma"]...)
	if settings.MustExist && !asked.Has("mode") {
		parameters.Set("mode", "rw")
	}
	return parameters
}

// sqliteCache returns the maximum size of a connection's page cache, in bytes. It is not part of Go's memory: all
// connections together may use an eighth of what Go may.
func sqliteCache() uint64 { return min(16<<20, memlimit.Limit()/8/defaultConns) }

func explainSQLite(path string, mustExist bool, err error) error {
	switch {
	case mustExist && errors.Is(err, sqlite3.CANTOPEN):
		return fmt.Errorf("the database file %q does not exist, or this user may not open it: %w", path, err)
	case errors.Is(err, sqlite3.CANTOPEN), errors.Is(err, sqlite3.READONLY):
		return fmt.Errorf("the database file %q can't be written: create its folder, or give this user the right to write there: %w", path, err)
	case errors.Is(err, sqlite3.NOTADB):
		return fmt.Errorf("the file %q is not a SQLite database: name another file, or move it away: %w", path, err)
	default:
		return fmt.Errorf("the database file %q can't be opened: %w", path, err)
	}
}
