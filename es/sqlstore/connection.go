package sqlstore

import (
	"context"
	"database/sql/driver"
	"fmt"
	"strings"

	"github.com/jmoiron/sqlx"
)

// synchronousFull is SQLite's value for a commit that waits until it is on the disk.
const synchronousFull = 2

// connect opens the writing connection. It refuses settings with which a power failure could lose acknowledged commits.
func (w *groupWriter) connect(ctx context.Context) (*sqlx.Conn, error) {
	if w.connection != nil {
		return w.connection, nil
	}
	conn, err := w.db.Connx(ctx)
	if err != nil {
		return nil, err
	}
	w.connection = conn
	if err := durable(ctx, conn); err != nil {
		w.disconnect()
		return nil, err
	}
	return w.connection, nil
}

func durable(ctx context.Context, conn *sqlx.Conn) error {
	var journal string
	var synchronous int
	if err := conn.GetContext(ctx, &journal, "PRAGMA journal_mode"); err != nil {
		return err
	}
	if err := conn.GetContext(ctx, &synchronous, "PRAGMA synchronous"); err != nil {
		return err
	}
	if !strings.EqualFold(journal, "wal") || synchronous < synchronousFull {
		return fmt.Errorf("the event store's file is open with journal_mode %s and synchronous %d: open it with WAL and FULL, otherwise a power failure can lose acknowledged commands",
			journal, synchronous)
	}
	return nil
}

// disconnect closes the connection instead of returning it to the pool. An open transaction is rolled back.
func (w *groupWriter) disconnect() {
	if w.connection == nil {
		return
	}
	_ = w.connection.Raw(func(any) error { return driver.ErrBadConn })
	_ = w.connection.Close()
	w.connection = nil
}
