package sqldialect

import (
	"database/sql"
	"fmt"
	"slices"
	"strings"

	"github.com/jmoiron/sqlx"
)

// Dialect holds the SQL dialect of a database. The zero value is invalid; use [Of].
type Dialect struct{ rules }

type rules interface {
	forUpdate() string
	forShare() string
	onConflict(key, others []string) string
	writing() *sql.TxOptions
	viewing() *sql.TxOptions
}

// Of returns the dialect of db, whose driver must be "mysql" (also for MariaDB) or "sqlite".
func Of(db *sqlx.DB) (Dialect, error) {
	switch driver := db.DriverName(); driver {
	case "mysql":
		return Dialect{mysqlRules{}}, nil
	case "sqlite":
		return Dialect{sqliteRules{}}, nil
	default:
		return Dialect{}, fmt.Errorf("no SQL dialect for the driver %q: expected mysql or sqlite", driver)
	}
}

// ForUpdate returns the end of a SELECT, with a leading space, that locks the selected rows until the transaction ends.
func (d Dialect) ForUpdate() string { return d.forUpdate() }

// ForShare returns the same for a lock that other transactions may share, but not with ForUpdate.
func (d Dialect) ForShare() string { return d.forShare() }

// Writing returns the options of a writing transaction: each statement sees what was committed before it, and locks
// apply to existing rows only.
func (d Dialect) Writing() *sql.TxOptions { return d.writing() }

// Viewing returns the options of a transaction whose statements without a lock all see the same moment, that of the
// first of them, and hold nobody up.
func (d Dialect) Viewing() *sql.TxOptions { return d.viewing() }

// Insert returns a statement that inserts a number of rows, and fails if one of them exists.
func (d Dialect) Insert(table string, columns []string, rows int) string {
	row := "(" + Marks(len(columns)) + ")"
	return fmt.Sprintf("INSERT INTO %s (%s) VALUES %s", table, strings.Join(columns, ", "),
		strings.TrimSuffix(strings.Repeat(row+", ", rows), ", "))
}

// Upsert returns a statement that inserts a number of rows, or updates all columns of those that exist. key names the
// columns of the primary key.
func (d Dialect) Upsert(table string, key, columns []string, rows int) string {
	others := slices.DeleteFunc(slices.Clone(columns), func(column string) bool { return slices.Contains(key, column) })
	return d.Insert(table, columns, rows) + " " + d.onConflict(key, others)
}

// ClassOf classifies an error of any of the databases.
func ClassOf(err error) Class {
	if class, known := classifyAny(err); known {
		return class
	}
	if class := classifyMySQL(err); class != Fault {
		return class
	}
	return classifySQLite(err)
}

// Marks returns n placeholders for a list.
func Marks(n int) string { return strings.TrimSuffix(strings.Repeat("?, ", n), ", ") }
