package sqldialect

import (
	"database/sql"
	"errors"
	"strings"

	"modernc.org/sqlite"
	sqlitecode "modernc.org/sqlite/lib"
)

type sqliteRules struct{}

// forUpdate returns nothing: a writing transaction locks the whole file when it begins (_txlock=immediate).
func (sqliteRules) forUpdate() string { return "" }

func (sqliteRules) forShare() string { return "" }

func (sqliteRules) onConflict(key, others []string) string {
	assignments := make([]string, len(others))
	for i, column := range others {
		assignments[i] = column + " = excluded." + column
	}
	return "ON CONFLICT (" + strings.Join(key, ", ") + ") DO UPDATE SET " + strings.Join(assignments, ", ")
}

func (sqliteRules) writing() *sql.TxOptions { return nil }

// viewing returns a transaction that takes no lock: see _txlock.
func (sqliteRules) viewing() *sql.TxOptions { return &sql.TxOptions{ReadOnly: true} }

func classifySQLite(err error) Class {
	var failed *sqlite.Error
	if !errors.As(err, &failed) {
		return Fault
	}
	switch failed.Code() {
	case sqlitecode.SQLITE_CONSTRAINT_PRIMARYKEY, sqlitecode.SQLITE_CONSTRAINT_UNIQUE, sqlitecode.SQLITE_CONSTRAINT_ROWID:
		return Duplicate
	}
	switch failed.Code() & 0xff { // the primary code of an extended one
	case sqlitecode.SQLITE_BUSY, sqlitecode.SQLITE_LOCKED:
		return Transient
	case sqlitecode.SQLITE_CONSTRAINT, sqlitecode.SQLITE_TOOBIG, sqlitecode.SQLITE_MISMATCH:
		return Refused
	case sqlitecode.SQLITE_INTERRUPT:
		return Ended
	case sqlitecode.SQLITE_FULL:
		return Full
	case sqlitecode.SQLITE_CORRUPT, sqlitecode.SQLITE_NOTADB:
		return Damaged
	}
	return Fault
}
