package migration

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/jmoiron/sqlx"
)

const (
	mysqlLockName = "CONCAT('migrate.', MD5(DATABASE()))"
	mysqlLockWait = 50 // seconds
)

// alone runs change while no other migration of the database runs. MySQL releases the lock with the connection, so a
// migration that dies leaves no lock. SQLite needs none: its migrations are transactions.
func alone(ctx context.Context, db *sqlx.DB, change func() error) (err error) {
	if db.DriverName() != "mysql" {
		return change()
	}
	conn, err := db.Conn(ctx)
	if err != nil {
		return fmt.Errorf("connect to lock the schema: %w", err)
	}
	defer func() { err = errors.Join(err, conn.Close()) }()

	var got sql.NullInt64
	if err := conn.QueryRowContext(ctx, fmt.Sprintf("SELECT GET_LOCK(%s, %d)", mysqlLockName, mysqlLockWait)).Scan(&got); err != nil {
		return fmt.Errorf("lock the schema: %w", err)
	}
	if got.Int64 != 1 {
		return errors.New("another migration of this database is running; try again when it is done")
	}
	defer func() {
		// Release the lock even if ctx has ended, because the connection returns to the pool.
		_, unlockErr := conn.ExecContext(context.WithoutCancel(ctx), fmt.Sprintf("DO RELEASE_LOCK(%s)", mysqlLockName))
		err = errors.Join(err, unlockErr)
	}()
	return change()
}
