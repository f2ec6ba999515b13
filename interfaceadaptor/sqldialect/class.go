package sqldialect

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"io"
	"net"
)

// Class is what can be done about an error.
type Class int

// The classes. An error that nothing is known about is a [Fault].
const (
	Fault     Class = iota // the database as a whole is not as it should be, or the statement: nothing but an operator helps
	Ended                  // the context has ended
	Transient              // the same may succeed a moment later: a deadlock, a lock or a statement that took too long, a lost connection
	Duplicate              // a row with this key is there already
	Refused                // the database does not take the data
)

// classifyAny knows the errors that all drivers share.
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
