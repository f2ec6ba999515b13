package sqldialect

import (
	"database/sql"
	"fmt"
	"slices"
	"strings"

	"github.com/jmoiron/sqlx"
)

// Dialect is how a database wants to be spoken to. The zero value is none; [Of] gives one.
type Dialect struct{ rules }

type rules interface {
	forUpdate() string
	forShare() string
	onConflict(key, others []string) string
	writing() *sql.TxOptions
	classify(err error) Class
}

// Of is the dialect of db, whose driver must be "mysql" (MariaDB, too) or "sqlite".
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

// ForUpdate is the end of a SELECT, with a space before it, that locks what it reads until the transaction ends.
func (d Dialect) ForUpdate() string { return d.forUpdate() }

// ForShare is the same for a lock that transactions share with each other, and not with one that is ForUpdate.
func (d Dialect) ForShare() string { return d.forShare() }

// Writing are the options of a transaction that writes: every statement in it sees what was committed before the
// statement, and a lock that it takes is on rows that are there.
func (d Dialect) Writing() *sql.TxOptions { return d.writing() }

// Insert is a statement that makes a number of rows, and fails where one of them is there already.
func (d Dialect) Insert(table string, columns []string, rows int) string {
	row := "(" + Marks(len(columns)) + ")"
	return fmt.Sprintf("INSERT INTO %s (%s) VALUES %s", table, strings.Join(columns, ", "),
		strings.TrimSuffix(strings.Repeat(row+", ", rows), ", "))
}

// Upsert is a statement that makes a number of rows, or changes all columns of those that are there already. key are
// the columns of the primary key.
func (d Dialect) Upsert(table string, key, columns []string, rows int) string {
	others := slices.DeleteFunc(slices.Clone(columns), func(column string) bool { return slices.Contains(key, column) })
	return d.Insert(table, columns, rows) + " " + d.onConflict(key, others)
}

// Classify tells what can be done about an error of the database.
func (d Dialect) Classify(err error) Class {
	if class, known := classifyAny(err); known {
		return class
	}
	return d.classify(err)
}

// Marks are n placeholders for a list.
func Marks(n int) string { return strings.TrimSuffix(strings.Repeat("?, ", n), ", ") }
