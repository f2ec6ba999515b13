package queryreader

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"

	"github.com/go-sql-driver/mysql"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"example.com/threads/usecase"
)

// What MySQL and MariaDB answer when they can't just now: too many connections, shutting down, lock wait, deadlock,
// a statement that was killed or took too long.
var mysqlBusy = map[uint16]bool{1040: true, 1053: true, 1205: true, 1213: true, 1317: true, 1969: true, 3024: true}

// classify wraps usecase.ErrUnavailable around an error that asking again may cure. The end of a context stays what it is.
func classify(err error) error {
	var network net.Error
	var refused *mysql.MySQLError
	var lite *sqlite.Error
	switch {
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	case errors.Is(err, driver.ErrBadConn), errors.Is(err, mysql.ErrInvalidConn), errors.Is(err, sql.ErrConnDone),
		errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF),
		errors.As(err, &network),
		errors.As(err, &refused) && mysqlBusy[refused.Number],
		errors.As(err, &lite) && sqliteBusy(lite.Code()):
		return fmt.Errorf("%w: %w", usecase.ErrUnavailable, err)
	}
	return err
}

// sqliteBusy tells of an extended result code that another connection is in the way, or that the caller has gone.
func sqliteBusy(code int) bool {
	switch code & 0xff {
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_INTERRUPT:
		return true
	}
	return false
}
