package projectionstore

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"regexp"
)

// server tells that the database is a server, and no file.
func (s *Store) server() bool { return s.db.DriverName() == "mysql" }

// copyTable makes an empty table like the one with this name for the set that is being made, unless it is there.
func (s *Store) copyTable(ctx context.Context, name string) error {
	if s.server() {
		_, err := s.db.ExecContext(ctx, "CREATE TABLE IF NOT EXISTS "+name+nextSuffix+" LIKE "+name)
		return err
	}
	var made string
	if err := s.db.GetContext(ctx, &made, "SELECT sql FROM sqlite_master WHERE type = 'table' AND name = ?", name); err != nil {
		return err
	}
	statements := []string{tableName.ReplaceAllString(made, "CREATE TABLE IF NOT EXISTS "+name+nextSuffix)}
	indexes, err := s.indexesOf(ctx, name)
	if err != nil {
		return err
	}
	for _, index := range indexes {
		statements = append(statements, index.as(index.Name+nextSuffix, name+nextSuffix))
	}
	for _, statement := range statements {
		if _, err := s.db.ExecContext(ctx, statement); err != nil {
			return err
		}
	}
	return nil
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

func (s *Store) indexesOf(ctx context.Context, table string) (found []tableIndex, err error) {
	err = s.db.SelectContext(ctx, &found, "SELECT name, sql FROM sqlite_master WHERE type = 'index' AND tbl_name = ? AND sql IS NOT NULL", table)
	return found, err
}

// as is the statement that makes the same index under a name on a table.
func (i tableIndex) as(name, table string) string {
	return indexName.ReplaceAllString(i.SQL, fmt.Sprintf("CREATE${1} INDEX IF NOT EXISTS %s ON %s", name, table))
}

// settleIndexes gives the indexes of a table that has become live the names that they have in the migrations. SQLite
// can't rename an index, and its names are those of the whole file: so each is made again, once the one with the name
// has gone from the old table.
func (s *Store) settleIndexes(ctx context.Context, table string) error {
	indexes, err := s.indexesOf(ctx, table)
	if err != nil {
		return err
	}
	for _, index := range indexes {
		name, temporary := cutSuffix(index.Name)
		if !temporary {
			continue
		}
		begun, err := s.db.BeginTxx(ctx, s.dialect.Writing())
		if err != nil {
			return err
		}
		for _, statement := range []string{"DROP INDEX IF EXISTS " + name, index.as(name, table), "DROP INDEX " + index.Name} {
			if _, err := begun.ExecContext(ctx, statement); err != nil {
				_ = begun.Rollback()
				return err
			}
		}
		if err := begun.Commit(); err != nil {
			return err
		}
	}
	return nil
}

func cutSuffix(name string) (string, bool) {
	if end := len(name) - len(nextSuffix); end > 0 && name[end:] == nextSuffix {
		return name[:end], true
	}
	return name, false
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

// onConnection runs work on a connection of its own, which the server closes, and with it the locks that it holds, once
// it says nothing for so many seconds. It does not go back to the pool.
func (s *Store) onConnection(ctx context.Context, silence int, work func(*sql.Conn) error) error {
	conn, err := s.db.Conn(ctx)
	if err != nil {
		return s.explain("connect", err)
	}
	defer discard(conn)
	if _, err := conn.ExecContext(ctx, fmt.Sprintf("SET SESSION wait_timeout = %d", silence)); err != nil {
		return s.explain("bound the silence of a connection", err)
	}
	return work(conn)
}

// discard closes a connection for good.
func discard(conn *sql.Conn) {
	_ = conn.Raw(func(any) error { return driver.ErrBadConn })
	_ = conn.Close()
}
