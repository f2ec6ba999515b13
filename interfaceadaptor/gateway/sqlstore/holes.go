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
	// holePatience is how long a missing number is waited for before its writers are asked to make room. Nearly all
	// appear within a millisecond or two.
	holePatience = 20 * time.Millisecond
	// holeRespite is how long nobody is asked again after a writer that hangs did not make room.
	holeRespite = 5 * time.Second

	mysqlLockWaitTimeout = 1205
)

// holes tells the numbers that were never used from those that are still to appear. On MySQL a transaction gets its
// numbers before it commits, and others with higher numbers may commit first; one that fails leaves its numbers unused.
//
// Every transaction that adds events holds a shared lock on the queue's row from before it gets its numbers until it has
// ended. So when an exclusive lock is granted, every number that was given out belongs to a transaction that has ended:
// what is missing then, below the last number that can be seen then, stays missing. The lock is asked for only when a
// hole has not closed by itself, is let go at once, and waits no more than a second for a writer that hangs.
type holes struct {
	db  *sqlx.DB
	now func() time.Time

	settled uint64    // at or below it, nothing can appear any more
	next    uint64    // the missing number that is waited for
	since   time.Time // when it was first missing
}

// before returns those of the rows that nothing can appear in front of any more.
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

// inFront tells that nothing of the rows can be used because of a hole in front of them.
func (h *holes) inFront(after uint64, rows []queueRow) bool {
	return len(rows) > 0 && len(h.before(after, rows)) == 0
}

// settle finds out what is missing for good, when a hole has been there for long enough. It is false otherwise.
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

// drain waits until no transaction that adds events is under way and returns the last number that is visible then.
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

	// Each statement sees what was committed before it, and the second one begins after the lock was granted.
	tx, err := conn.BeginTxx(ctx, &sql.TxOptions{Isolation: sql.LevelReadCommitted})
	if err != nil {
		return 0, err
	}
	defer func() { _ = tx.Rollback() }() // there is nothing to commit
	var id int
	if err := tx.GetContext(ctx, &id, "SELECT id FROM event_queue WHERE id = 1 FOR UPDATE"); err != nil {
		return 0, err
	}
	return lastNumber(ctx, tx)
}

// shortLockWait has the connection wait a second at most for a lock: those who come after a waiting exclusive lock wait
// behind it. restore puts back what was.
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
