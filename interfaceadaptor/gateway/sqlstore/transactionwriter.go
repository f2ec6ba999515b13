package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/jmoiron/sqlx"

	"example.com/threads/interfaceadaptor/sqldialect"
)

const (
	attempts = 8
	minPause = 5 * time.Millisecond
	maxPause = 160 * time.Millisecond
)

// transactionWriter gives every change a transaction of its own, on MySQL and MariaDB. They overlap, and the server lets
// those that are committed at the same time share a wait for the disk.
//
// A transaction is run again after whatever passes: a deadlock, a lock that took too long, a connection that was lost.
// That holds for a COMMIT whose answer was lost, too: a change that was committed recognises itself, and one that is still being
// committed is waited for, because the next try needs its locks.
type transactionWriter struct {
	db       *sqlx.DB
	dialect  sqldialect.Dialect
	onAppend func()

	mutex   sync.Mutex
	closed  bool
	running sync.WaitGroup
}

func (w *transactionWriter) write(ctx context.Context, change change) error {
	if !w.enter() {
		return errClosed
	}
	defer w.running.Done()
	for attempt := 1; ; attempt++ {
		err := w.try(ctx, change)
		if errors.Is(err, errRefused) {
			err = change.refused(ctx, w.db)
		}
		switch {
		case err == nil && change.appends():
			w.onAppend()
			return nil
		case err == nil || attempt == attempts || w.dialect.Classify(err) != sqldialect.Transient || !pause(ctx, attempt):
			return err
		}
	}
}

func (w *transactionWriter) enter() bool {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	if w.closed {
		return false
	}
	w.running.Add(1)
	return true
}

func (w *transactionWriter) try(ctx context.Context, change change) error {
	tx, err := w.db.BeginTxx(ctx, w.dialect.Writing())
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // after a commit it does nothing
	if change.appends() {
		if err := enterQueue(ctx, tx); err != nil {
			return err
		}
	}
	if err := change.apply(ctx, tx); err != nil {
		return err
	}
	return tx.Commit()
}

// enterQueue holds the queue's row with those who add events at the same time, until the transaction ends. It comes
// before the events get their numbers: [Queue.Read] rests on that.
func enterQueue(ctx context.Context, tx *sqlx.Tx) error {
	var id int
	err := tx.GetContext(ctx, &id, "SELECT id FROM event_queue WHERE id = 1 LOCK IN SHARE MODE")
	if errors.Is(err, sql.ErrNoRows) {
		return fmt.Errorf("the event store's table event_queue has lost its row: run its migrations again: %w", err)
	}
	return err
}

func (w *transactionWriter) close(ctx context.Context) error {
	w.mutex.Lock()
	w.closed = true
	w.mutex.Unlock()
	done := make(chan struct{})
	go func() {
		w.running.Wait()
		close(done)
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("writes of the event store are still under way: %w", ctx.Err())
	}
}

// pause lets the others finish, longer after each attempt, at random, so that those who met do not meet again. It is
// false when ctx ended meanwhile.
func pause(ctx context.Context, attempt int) bool {
	longest := min(minPause<<attempt, maxPause)
	timer := time.NewTimer(longest/2 + rand.N(longest/2))
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
