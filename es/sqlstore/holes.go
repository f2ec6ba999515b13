package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/jmoiron/sqlx"
)

const (
	// holePatience is how long to wait for a missing number before asking for the exclusive lock. Nearly all appear
	// within a millisecond or two.
	holePatience = 20 * time.Millisecond
	// holeRespite is the delay before retrying the exclusive lock after a timeout.
	holeRespite = 5 * time.Second

	mysqlLockWaitTimeout = 1205
)

// holes distinguishes numbers that were never used from numbers that will still appear. On MySQL a transaction gets its
// numbers before it commits. Others with higher numbers may commit first, and a transaction that fails leaves its
// numbers unused.
//
// Every transaction that adds events holds a shared lock on the queue's row from before it gets its numbers until it
// ends. So when an exclusive lock is granted, every assigned number belongs to a transaction that has ended: a number
// that is missing then, below the last visible number, will never appear. The exclusive lock is only requested when a
// hole does not close by itself; it is released at once, and waits at most a second for a writer that hangs.
type holes struct {
	db  *sqlx.DB
	now func() time.Time

	settled uint64    // no number up to here can appear any more
	next    uint64    // the missing number
	since   time.Time // when it was first seen to be missing
}

// before returns the rows in front of which no number can appear any more.
func (h *holes) before(after uint64, rows []queueRow) []queueRow {
	last := max(after, h.settled)
	for i, row := range rows {
		if row.SequenceNumber > last+1 {
			return rows[:i]
		}
		last = max(last, row.SequenceNumber)
	}
	return rows
}

// inFront reports whether no row can be used because of a hole before the first.
func (h *holes) inFront(after uint64, rows []queueRow) bool {
	return len(rows) > 0 && len(h.before(after, rows)) == 0
}

// settle finds out which numbers will never appear, once a hole has existed long enough. Otherwise it returns false.
func (h *holes) settle(ctx context.Context, after uint64) (bool, error) {
	now := h.now()
	if next := max(after, h.settled) + 1; h.next != next {
		h.next, h.since = next, now
	}
	if now.Sub(h.since) < holePatience {
		return false, nil
	}
	last, err := h.drain(ctx)
	var refused *mysql.MySQLError
	if errors.As(err, &refused) && refused.Number == mysqlLockWaitTimeout {
		h.since = now.Add(holeRespite)
		return false, nil
	}
	if err != nil {
		return false, err
	}
	h.settled = max(h.settled, last)
	return true, nil
}

// drain waits until no transaction that adds events is in progress, and returns the last number that is visible then.
func (h *holes) drain(ctx context.Context) (last uint64, err error) {
	conn, err := h.db.Connx(ctx)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	restore, err := shortLockWait(ctx, conn)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, restore()) }()

	// Each statement sees what was committed before it began; the second begins after the lock was granted.
	tx, err := conn.BeginTxx(ctx, &sql.TxOptions{Isolation: sql.LevelReadCommitted})
	if err != nil {
		return 0, err
	}
	defer func() { _ = tx.Rollback() }() // nothing to commit
	var id int
	if err := tx.GetContext(ctx, &id, "SELECT id FROM event_queue WHERE id = 1 FOR UPDATE"); err != nil {
		return 0, err
	}
	return lastNumber(ctx, tx)
}

// shortLockWait limits the connection's lock waits to a second, because writers queue behind a waiting exclusive lock.
// restore resets the limit.
func shortLockWait(ctx context.Context, conn *sqlx.Conn) (restore func() error, err error) {
	var usual int
	if err := conn.GetContext(ctx, &usual, "SELECT @@SESSION.innodb_lock_wait_timeout"); err != nil {
		return nil, err
	}
	set := func(ctx context.Context, seconds int) error {
		_, err := conn.ExecContext(ctx, fmt.Sprintf("SET SESSION innodb_lock_wait_timeout = %d", seconds))
		return err
	}
	restore = func() error { return set(context.WithoutCancel(ctx), usual) }
	return restore, set(ctx, 1)
}
