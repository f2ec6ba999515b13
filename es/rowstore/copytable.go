package rowstore

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"
)

// server tells that the database is a server, and no file.
func (s *Store) server() bool { return s.db.DriverName() == "mysql" }

// copyTable makes an empty table like the one with this name for the set that is being made, unless it is there. On
// SQLite it has no indexes but the primary key.
func (s *Store) copyTable(ctx context.Context, name string) error {
	if s.server() {
		_, err := s.db.ExecContext(ctx, "CREATE TABLE IF NOT EXISTS "+name+nextSuffix+" LIKE "+name)
		return err
	}
	var made string
	if err := s.db.GetContext(ctx, &made, "SELECT sql FROM sqlite_master WHERE type = 'table' AND name = ?", name); err != nil {
		return err
	}
	_, err := s.db.ExecContext(ctx, tableName.ReplaceAllString(made, "CREATE TABLE IF NOT EXISTS "+name+nextSuffix))
	return err
}

// copyIndexes gives the copy of a table the indexes of the original, unless it has them: on a server it does. The copy
// is filled first, because building an index of all rows is faster than keeping it up to date row by row.
//
// On SQLite the names of indexes are unique in the file, and no statement renames one. So an index keeps its name when
// its table is renamed, and the sets take turns: where the live set has an index x, the next one has x_next, and the
// one after it has x again.
func (s *Store) copyIndexes(ctx context.Context, name string) error {
	if s.server() {
		return nil
	}
	var indexes []struct{ Name, SQL string }
	err := s.db.SelectContext(ctx, &indexes, "SELECT name, sql FROM sqlite_master WHERE type = 'index' AND tbl_name = ? AND sql IS NOT NULL", name)
	for _, index := range indexes {
		if err == nil {
			copied, is := strings.CutSuffix(index.Name, nextSuffix)
			if !is {
				copied += nextSuffix
			}
			_, err = s.db.ExecContext(ctx, indexName.ReplaceAllString(index.SQL, fmt.Sprintf("CREATE${1} INDEX IF NOT EXISTS %s ON %s", copied, name+nextSuffix)))
		}
	}
	return err
}

func (s *Store) columns(ctx context.Context, table string) ([]string, error) {
	rows, err := s.db.QueryContext(ctx, "SELECT * FROM "+table+" WHERE 1 = 0")
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }() // there are none
	names, err := rows.Columns()
	return names, errors.Join(err, rows.Err())
}

// How SQLite remembers what was said when a table and an index were made.
var (
	tableName = regexp.MustCompile(`^CREATE TABLE (IF NOT EXISTS )?"?\w+"?`)
	indexName = regexp.MustCompile(`^CREATE( UNIQUE)? INDEX (?:IF NOT EXISTS )?"?\w+"? ON "?\w+"?`)
)

const deletedAtOnce = 5000

// deleteAll runs a DELETE, on a server piece by piece.
func (s *Store) deleteAll(ctx context.Context, statement string, args ...any) error {
	if !s.server() {
		_, err := s.db.ExecContext(ctx, statement, args...)
		return err
	}
	for {
		result, err := s.db.ExecContext(ctx, fmt.Sprintf("%s LIMIT %d", statement, deletedAtOnce), args...)
		if err != nil {
			return err
		}
		if n, err := result.RowsAffected(); err != nil || n < deletedAtOnce {
			return err
		}
	}
}

// connect returns a connection that the server closes, and with it the locks that it holds, once it says nothing for so
// long, in whole seconds. It must not go back to the pool: see discard.
func (s *Store) connect(ctx context.Context, silence time.Duration) (*sql.Conn, error) {
	conn, err := s.db.Conn(ctx)
	if err != nil {
		return nil, s.explain("connect", err)
	}
	if _, err := conn.ExecContext(ctx, fmt.Sprintf("SET SESSION wait_timeout = %.0f", silence.Seconds())); err != nil {
		discard(conn)
		return nil, s.explain("bound the silence of a connection", err)
	}
	return conn, nil
}

// onConnection runs work on a connection of its own; see connect.
func (s *Store) onConnection(ctx context.Context, silence time.Duration, work func(*sql.Conn) error) error {
	conn, err := s.connect(ctx, silence)
	if err != nil {
		return err
	}
	defer discard(conn)
	return work(conn)
}

// discard closes a connection for good.
func discard(conn *sql.Conn) {
	_ = conn.Raw(func(any) error { return driver.ErrBadConn })
	_ = conn.Close()
}
