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

	"github.com/jmoiron/sqlx"
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
func (s *Store) copyIndexes(ctx context.Context, name string) error {
	if s.server() {
		return nil
	}
	indexes, err := s.indexesOf(ctx, s.db, name)
	for _, index := range indexes {
		if err == nil {
			statement := index.as(index.Name+nextSuffix, name+nextSuffix)
			_, err = s.db.ExecContext(ctx, strings.Replace(statement, " INDEX ", " INDEX IF NOT EXISTS ", 1))
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

// tableIndex is one of a SQLite table that was made by a statement.
type tableIndex struct {
	Name string `db:"name"`
	SQL  string `db:"sql"`
}

func (s *Store) indexesOf(ctx context.Context, from sqlx.QueryerContext, table string) (found []tableIndex, err error) {
	err = sqlx.SelectContext(ctx, from, &found, "SELECT name, sql FROM sqlite_master WHERE type = 'index' AND tbl_name = ? AND sql IS NOT NULL", table)
	return found, err
}

// as is the statement that makes the same index under a name on a table.
func (i tableIndex) as(name, table string) string {
	return indexName.ReplaceAllString(i.SQL, fmt.Sprintf("CREATE${1} INDEX %s ON %s", name, table))
}

// renameIndexes gives the indexes of a table that was renamed from one suffix to another the names that go with it.
// Names of indexes are unique in the file, SQLite has no statement that renames one, and making all of them again would
// keep writers out for as long as that takes. So this changes the schema's own table, as ALTER TABLE does; the index
// itself does not have its name in it. Renaming the table has told the other connections to read the schema again.
func (s *Store) renameIndexes(ctx context.Context, in *sqlx.Tx, name, from, to string) error {
	indexes, err := s.indexesOf(ctx, in, name+to)
	for _, index := range indexes {
		if err == nil {
			renamed := strings.TrimSuffix(index.Name, from) + to
			_, err = in.ExecContext(ctx, "UPDATE sqlite_master SET name = ?, sql = ? WHERE type = 'index' AND name = ?",
				renamed, index.as(renamed, name+to), index.Name)
		}
	}
	return err
}

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
