// Package sqldialect holds all differences between MySQL (and MariaDB) and SQLite: in statements, in locks and in the
// meaning of errors. The SQL adapters use it and are otherwise the same for all databases.
package sqldialect

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"

	"github.com/go-sql-driver/mysql"
	"github.com/jmoiron/sqlx"
	"github.com/ncruces/go-sqlite3"
)

// Dialect holds the SQL dialect of a database. The zero value is invalid; use [Of].
type Dialect struct{ isMySQL bool }

// Of returns the dialect of db, whose driver must be "mysql" (also for MariaDB) or "sqlite".
func Of(db *sqlx.DB) (Dialect, error) {
	driver := db.DriverName()
	if driver != "mysql" && driver != "sqlite" {
		return Dialect{}, fmt.Errorf("no SQL dialect for the driver %q: expected mysql or sqlite", driver)
	}
	return Dialect{driver == "mysql"}, nil
}

// ForUpdate returns the end of a SELECT, with a leading space, that locks the selected rows until the transaction ends.
// On SQLite, a writing transaction locks the whole file when it begins.
func (d Dialect) ForUpdate() string { return d.onMySQL(" FOR UPDATE") }

// ForShare returns the same for a lock that others may share, but not with ForUpdate, as MySQL and MariaDB write it.
func (d Dialect) ForShare() string { return d.onMySQL(" LOCK IN SHARE MODE") }

// Charset is that of a table with any text, whatever the default of the server is.
func (d Dialect) Charset() string { return d.onMySQL(" CHARACTER SET utf8mb4 COLLATE utf8mb4_bin") }

func (d Dialect) onMySQL(text string) string {
	if d.isMySQL {
		return text
	}
	return ""
}

// Writing returns the options of a writing transaction. MySQL's default, REPEATABLE READ, locks gaps between rows, so
// that transactions that insert different rows deadlock; it also shows old data after waiting for a lock.
func (d Dialect) Writing() *sql.TxOptions {
	if d.isMySQL {
		return &sql.TxOptions{Isolation: sql.LevelReadCommitted}
	}
	return nil
}

// Viewing returns the options of a transaction whose statements without a lock see one moment and hold nobody up.
func (d Dialect) Viewing() *sql.TxOptions {
	if d.isMySQL {
		return &sql.TxOptions{Isolation: sql.LevelRepeatableRead}
	}
	return &sql.TxOptions{ReadOnly: true} // takes no lock
}

// Insert returns a statement that inserts a number of rows, and fails if one of them exists.
func (d Dialect) Insert(table string, columns []string, rows int) string {
	row := "(" + Marks(len(columns)) + ")"
	return fmt.Sprintf("INSERT INTO %s (%s) VALUES %s", table, strings.Join(columns, ", "),
		strings.TrimSuffix(strings.Repeat(row+", ", rows), ", "))
}

// Upsert returns a statement that inserts a number of rows, or updates all columns of those that exist. key names the
// columns of the primary key. MySQL 8.4 and MariaDB 10.11 both support VALUES(column).
func (d Dialect) Upsert(table string, key, columns []string, rows int) string {
	form := "%[1]s = excluded.%[1]s"
	if d.isMySQL {
		form = "%[1]s = VALUES(%[1]s)"
	}
	var assignments []string
	if len(key) == len(columns) {
		assignments = []string{fmt.Sprintf(form, key[0])} // changes nothing
	}
	for _, column := range columns {
		if !slices.Contains(key, column) {
			assignments = append(assignments, fmt.Sprintf(form, column))
		}
	}
	return d.Insert(table, columns, rows) + d.OnConflict(key...) + strings.Join(assignments, ", ")
}

// OnConflict returns what follows on an INSERT, before the assignments for a row that exists.
func (d Dialect) OnConflict(key ...string) string {
	if d.isMySQL {
		return " ON DUPLICATE KEY UPDATE "
	}
	return " ON CONFLICT (" + strings.Join(key, ", ") + ") DO UPDATE SET "
}

// Marks returns n placeholders for a list.
func Marks(n int) string { return strings.TrimSuffix(strings.Repeat("?, ", n), ", ") }

// LockNamed returns the SQL of a lock's name; name is SQL, too. Locks are the server's, so it has the database's name.
func LockNamed(name string) string { return "CONCAT(" + name + ", MD5(DATABASE()))" }

// GetLock takes a lock of the MySQL server with this name and the database's, within some seconds; false: another
// connection has it. The server frees it when the connection ends; see [Discard].
func GetLock(ctx context.Context, conn *sql.Conn, name string, seconds int) (bool, error) {
	var got sql.NullInt64
	err := conn.QueryRowContext(ctx, "SELECT GET_LOCK("+LockNamed("?")+", ?)", name, seconds).Scan(&got)
	return got.Int64 == 1, err
}

// Discard closes a connection instead of giving it back to the pool.
func Discard(conn *sql.Conn) {
	_ = conn.Raw(func(any) error { return driver.ErrBadConn })
	_ = conn.Close()
}

// Changed runs a statement and returns the number of rows that it affected.
func Changed(ctx context.Context, in sqlx.ExecerContext, query string, args ...any) (int64, error) {
	result, err := in.ExecContext(ctx, query, args...)
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

// Class classifies a database error by what can be done about it.
type Class int

// The classes. An unknown error is a [Fault].
const (
	Fault Class = iota // the database or the statement is wrong: an operator must act
	Ended              // the context has ended
	// the same call may succeed a moment later: deadlock, lock or statement timeout, lost connection
	Transient
	Duplicate // a row with this key exists already
	Refused   // the database refuses the data
	Full      // the disk is full: an operator must make room
	Damaged   // the stored data can't be read: an operator must restore it
	Lacking   // a table lacks a column: a migration is missing
)

// ClassOf classifies an error of any of the databases.
func ClassOf(err error) Class {
	var network *net.OpError // not net.Error, which every error of SQLite is
	var onMySQL *mysql.MySQLError
	switch {
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return Ended
	case errors.Is(err, driver.ErrBadConn), errors.Is(err, sql.ErrConnDone), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF),
		errors.As(err, &network), errors.Is(err, mysql.ErrInvalidConn):
		return Transient
	case errors.Is(err, mysql.ErrPktTooLarge):
		return Refused
	case errors.As(err, &onMySQL):
		return classOfMySQL(onMySQL)
	}
	return classOfSQLite(err)
}

// mysqlClasses are the errors whose SQL state is not specific enough.
var mysqlClasses = map[uint16]Class{
	1020: Transient, // record has changed since last read (MariaDB)
	1040: Transient, // too many connections
	1053: Transient, // server shutdown in progress
	1205: Transient, // lock wait timeout
	1213: Transient, // deadlock
	1290: Transient, // read only: a failover is under way
	1317: Transient, // query interrupted by the server
	1836: Transient, // read only mode
	1927: Transient, // connection was killed (MariaDB)
	1969: Transient, // longer than max_statement_time (MariaDB)
	3024: Transient, // longer than max_execution_time (MySQL)
	4031: Transient, // closed because it was silent for wait_timeout (MySQL)
	1062: Duplicate,
	1586: Duplicate, // the same, with the key's name
	1153: Refused,   // packet too large
	1366: Refused,   // incorrect string value
	1644: Refused,   // a trigger's SIGNAL
	3819: Refused,   // check constraint
	4025: Refused,   // check constraint (MariaDB)
	1021: Full,      // disk full
	1114: Full,      // table full, as InnoDB says it
	1034: Damaged,   // broken index
	1194: Damaged,   // broken table
	1195: Damaged,   // the same, and its repair failed
	1712: Damaged,   // broken index of InnoDB
	1054: Lacking,   // unknown column
}

func classOfMySQL(failed *mysql.MySQLError) Class {
	if class, known := mysqlClasses[failed.Number]; known {
		return class
	}
	if strings.Contains(failed.Message, "No space left on device") { // the system's error 28, within several others
		return Full
	}
	switch string(failed.SQLState[:2]) {
	case "22", "23": // data exception, integrity constraint
		return Refused
	case "08": // connection exception
		return Transient
	}
	return Fault
}

func classOfSQLite(err error) Class {
	is := func(codes ...error) bool {
		return slices.ContainsFunc(codes, func(code error) bool { return errors.Is(err, code) })
	}
	switch {
	case is(sqlite3.CONSTRAINT_PRIMARYKEY, sqlite3.CONSTRAINT_UNIQUE, sqlite3.CONSTRAINT_ROWID):
		return Duplicate
	case is(sqlite3.BUSY, sqlite3.LOCKED):
		return Transient
	case is(sqlite3.CONSTRAINT, sqlite3.TOOBIG, sqlite3.MISMATCH):
		return Refused
	case is(sqlite3.INTERRUPT):
		return Ended
	case is(sqlite3.FULL):
		return Full
	case is(sqlite3.CORRUPT, sqlite3.NOTADB):
		return Damaged
	case is(sqlite3.ERROR) && (strings.Contains(err.Error(), "no such column") || strings.Contains(err.Error(), "has no column named")):
		return Lacking
	}
	return Fault
}
