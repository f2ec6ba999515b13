package sqldialect

import (
	"database/sql"
	"errors"
	"strings"

	"github.com/go-sql-driver/mysql"
)

type mysqlRules struct{}

func (mysqlRules) forUpdate() string { return " FOR UPDATE" }

// forShare is the form that MySQL 8.4 and MariaDB 10.11 share.
func (mysqlRules) forShare() string { return " LOCK IN SHARE MODE" }

// onConflict uses VALUES(column), which both MySQL 8.4 and MariaDB 10.11 support.
func (mysqlRules) onConflict(_, others []string) string {
	assignments := make([]string, len(others))
	for i, column := range others {
		assignments[i] = column + " = VALUES(" + column + ")"
	}
	return "ON DUPLICATE KEY UPDATE " + strings.Join(assignments, ", ")
}

// writing returns READ COMMITTED. The default, REPEATABLE READ, locks gaps between rows, so that transactions that
// insert different rows deadlock; it also shows old data after waiting for a lock.
func (mysqlRules) writing() *sql.TxOptions { return &sql.TxOptions{Isolation: sql.LevelReadCommitted} }

func (mysqlRules) viewing() *sql.TxOptions { return &sql.TxOptions{Isolation: sql.LevelRepeatableRead} }

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
}

func classifyMySQL(err error) Class {
	switch {
	case errors.Is(err, mysql.ErrInvalidConn):
		return Transient
	case errors.Is(err, mysql.ErrPktTooLarge):
		return Refused
	}
	var failed *mysql.MySQLError
	if !errors.As(err, &failed) {
		return Fault
	}
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
