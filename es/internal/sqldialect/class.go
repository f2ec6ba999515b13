package sqldialect

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"io"
	"net"
)

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
)

// classifyAny classifies errors that all drivers share.
func classifyAny(err error) (Class, bool) {
	var network net.Error
	switch {
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return Ended, true
	case errors.Is(err, driver.ErrBadConn), errors.Is(err, sql.ErrConnDone), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF),
		errors.As(err, &network):
		return Transient, true
	}
	return Fault, false
}
