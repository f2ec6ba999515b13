package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/jmoiron/sqlx"

	"example.com/threads/es/internal/sqldialect"
)

const attempts = 8

// transactionWriter runs every change in its own transaction, on MySQL and MariaDB. Transactions run concurrently, and
// the server lets those that commit at the same time share a wait for the disk.
//
// A transaction is retried after transient errors: a deadlock, a lock timeout, a lost connection. This includes a
// COMMIT whose answer was lost: a change that was committed recognises itself, and one whose commit is still in
// progress is waited for, because the retry needs its locks.
type transactionWriter struct {
	db       *sqlx.DB
	dialect  sqldialect.Dialect
	onAppend func()

	mutex   sync.Mutex
	closed  bool
	running sync.WaitGroup
}

func (w *transactionWriter) write(ctx context.Context, change storeChange) (err error) {
	if !w.enter() {
		return errClosed
	}
	defer w.running.Done()
	pauses := &backoff.ExponentialBackOff{
		InitialInterval: 8 * time.Millisecond, MaxInterval: 120 * time.Millisecond, Multiplier: 2, RandomizationFactor: 0.33,
	}
	_, _ = backoff.Retry(ctx, func() (struct{}, error) { // its error can be ctx's, which says less than the last one
		if err = w.try(ctx, change); errors.Is(err, errRefused) {
			err = change.refused(ctx, w.db)
		}
		if err != nil && sqldialect.ClassOf(err) != sqldialect.Transient {
			return struct{}{}, backoff.Permanent(err)
		}
		return struct{}{}, err
	}, backoff.WithBackOff(pauses), backoff.WithMaxTries(attempts))
	if err == nil && change.appends() {
		w.onAppend()
	}
	return err
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

func (w *transactionWriter) try(ctx context.Context, change storeChange) error {
	tx, err := w.db.BeginTxx(ctx, w.dialect.Writing())
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // no effect after a commit
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

// enterQueue takes the shared lock on the queue's row until the transaction ends. It must come before the events get
// their numbers, because [Queue.Read] relies on that.
func enterQueue(ctx context.Context, tx *sqlx.Tx) error {
	var id int
	err := tx.GetContext(ctx, &id, "SELECT id FROM event_queue WHERE id = 1 LOCK IN SHARE MODE")
	if errors.Is(err, sql.ErrNoRows) {
		return fmt.Errorf("the event store's table event_queue has no row: run its migrations again: %w", err)
	}
	return err
}

func (w *transactionWriter) close(ctx context.Context) error {
	w.mutex.Lock()
	w.closed = true
	w.mutex.Unlock()
	return await(ctx, &w.running)
}
