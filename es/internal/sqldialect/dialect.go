// Package sqldialect holds all differences between MySQL (and MariaDB) and SQLite: in statements, in locks and in the
// meaning of errors (class.go). The SQL adapters use it and are otherwise the same for all databases.
package sqldialect

import (
	"database/sql"
	"fmt"
	"slices"
	"strings"

	"github.com/jmoiron/sqlx"
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
// On SQLite, a writing transaction locks the whole file when it begins (_txlock=immediate).
func (d Dialect) ForUpdate() string { return d.onMySQL(" FOR UPDATE") }

// ForShare returns the same for a lock that other transactions may share, but not with ForUpdate, in the form that
// MySQL 8.4 and MariaDB 10.11 share.
func (d Dialect) ForShare() string { return d.onMySQL(" LOCK IN SHARE MODE") }

func (d Dialect) onMySQL(text string) string {
	if d.isMySQL {
		return text
	}
	return ""
}

// Writing returns the options of a writing transaction: each statement sees what was committed before it, and locks
// apply to existing rows only. MySQL's default, REPEATABLE READ, locks gaps between rows, so that transactions that
// insert different rows deadlock; it also shows old data after waiting for a lock.
func (d Dialect) Writing() *sql.TxOptions {
	if d.isMySQL {
		return &sql.TxOptions{Isolation: sql.LevelReadCommitted}
	}
	return nil
}

// Viewing returns the options of a transaction whose statements without a lock all see the same moment, that of the
// first of them, and hold nobody up.
func (d Dialect) Viewing() *sql.TxOptions {
	if d.isMySQL {
		return &sql.TxOptions{Isolation: sql.LevelRepeatableRead}
	}
	return &sql.TxOptions{ReadOnly: true} // takes no lock: see _txlock
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
	onConflict, form := "ON CONFLICT ("+strings.Join(key, ", ")+") DO UPDATE SET ", "%[1]s = excluded.%[1]s"
	if d.isMySQL {
		onConflict, form = "ON DUPLICATE KEY UPDATE ", "%[1]s = VALUES(%[1]s)"
	}
	var assignments []string
	for _, column := range columns {
		if !slices.Contains(key, column) {
			assignments = append(assignments, fmt.Sprintf(form, column))
		}
	}
	return d.Insert(table, columns, rows) + " " + onConflict + strings.Join(assignments, ", ")
}

// Marks returns n placeholders for a list.
func Marks(n int) string { return strings.TrimSuffix(strings.Repeat("?, ", n), ", ") }
