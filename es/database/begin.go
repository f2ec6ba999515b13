package database

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"time"
)

const (
	// lockPoll is the interval at which a transaction that begins tries to lock a SQLite file. After a quarter of a
	// second SQLite itself tries only every 100 ms, and so misses the moments between the transactions of a rebuild.
	lockPoll = 2 * time.Millisecond

	busyTimeout = "PRAGMA busy_timeout"
)

// BeginTx implements [driver.ConnBeginTx]. A writing transaction waits for the lock of the file as long as the
// connection's busy_timeout says, or until ctx ends.
func (c *connection) BeginTx(ctx context.Context, options driver.TxOptions) (driver.Tx, error) {
	if options.ReadOnly {
		return c.sqliteConn.BeginTx(ctx, options)
	}
	whole := context.WithoutCancel(ctx) // the timeout must not stay changed
	if _, err := c.ExecContext(whole, busyTimeout+" = 0", nil); err != nil {
		return nil, err
	}
	tx, err := c.awaitLock(ctx, options)
	if _, resetErr := c.ExecContext(whole, c.resetTimeout, nil); resetErr != nil {
		return nil, driver.ErrBadConn // closes the connection, and so rolls back
	}
	return tx, err
}

func (c *connection) awaitLock(ctx context.Context, options driver.TxOptions) (driver.Tx, error) {
	began := time.Now()
	for {
		tx, err := c.sqliteConn.BeginTx(ctx, options)
		if sqliteClass(err) != sqliteBusy || time.Since(began) >= c.patience {
			return tx, err
		}
		select {
		case <-time.After(lockPoll):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// readTimeout reads the busy_timeout that the connection was opened with.
func (c *connection) readTimeout(ctx context.Context) error {
	found, err := c.QueryContext(ctx, busyTimeout, nil)
	if err != nil {
		return err
	}
	value := make([]driver.Value, 1)
	err = errors.Join(found.Next(value), found.Close())
	millis, _ := value[0].(int64)
	c.patience = time.Duration(millis) * time.Millisecond
	c.resetTimeout = fmt.Sprintf("%s = %d", busyTimeout, millis)
	return err
}
