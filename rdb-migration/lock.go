package rdbmigration

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// mysqlLock lets one migration of a database run at a time. The server frees it with the connection, so a migration
// that dies leaves nothing behind. SQLite needs none: its migrations are transactions.
type mysqlLock struct{}

const (
	mysqlLockName = "CONCAT('migrate.', MD5(DATABASE()))"
	mysqlLockWait = 50 // seconds
)

func (mysqlLock) SessionLock(ctx context.Context, conn *sql.Conn) error {
	var got sql.NullInt64
	if err := conn.QueryRowContext(ctx, fmt.Sprintf("SELECT GET_LOCK(%s, %d)", mysqlLockName, mysqlLockWait)).Scan(&got); err != nil {
		return fmt.Errorf("lock the schema: %w", err)
	}
	if got.Int64 != 1 {
		return errors.New("another migration of this database is running; try again when it is done")
	}
	return nil
}

func (mysqlLock) SessionUnlock(ctx context.Context, conn *sql.Conn) error {
	if _, err := conn.ExecContext(ctx, fmt.Sprintf("DO RELEASE_LOCK(%s)", mysqlLockName)); err != nil {
		return fmt.Errorf("unlock the schema: %w", err)
	}
	return nil
}
