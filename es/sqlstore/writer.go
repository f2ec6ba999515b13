package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"time"

	"github.com/jmoiron/sqlx"

	"example.com/threads/es"
	"example.com/threads/es/internal/sqldialect"
)

// writer runs changes in transactions.
type writer interface {
	// write runs the change in a transaction. It returns when the change is durable, or has failed without any effect.
	write(ctx context.Context, change change) error
	// close completes the changes that go on after their callers have gone.
	close(ctx context.Context) error
}

// change is a unit of work in a transaction. After an error it is rolled back.
type change func(ctx context.Context, in session) error

var (
	// errRefused: a row is not as the change expects it.
	errRefused = errors.New("a row in the database is not as the change expects it")
	errClosed  = fmt.Errorf("%w: this process has closed it", es.ErrUnavailable)
)

// Attempts of a transaction on MySQL, and the pauses between them.
const (
	attempts = 8
	minPause = 10 * time.Millisecond
	maxPause = 160 * time.Millisecond
)

// transactionWriter runs every change in its own transaction, on MySQL and MariaDB. It retries one after a transient
// error, also of a COMMIT: a change that was committed recognises itself, and one that is being committed is waited
// for, because the retry needs its locks.
type transactionWriter struct {
	db       *sqlx.DB
	options  *sql.TxOptions
	onCommit func()
}

func (*transactionWriter) close(context.Context) error { return nil }

func (w *transactionWriter) write(ctx context.Context, change change) error {
	for attempt := 1; ; attempt++ {
		err := w.try(ctx, change)
		if err == nil {
			w.onCommit()
			return nil
		}
		if sqldialect.ClassOf(err) != sqldialect.Transient || attempt == attempts ||
			es.Wait(ctx, es.Backoff(minPause, maxPause, attempt-1)) != nil {
			return err
		}
	}
}

func (w *transactionWriter) try(ctx context.Context, change change) error {
	tx, err := w.db.BeginTxx(ctx, w.options)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // no effect after a commit
	if err := change(ctx, tx); err != nil {
		return err
	}
	return tx.Commit()
}

// maxGroup limits the changes in a transaction, and with it how long the first waits for the last.
const maxGroup = 256

// groupWriter is the single writer that SQLite allows. Changes that arrive during a commit share the next transaction.
// Writes are never delayed to fill a group. Its goroutine exits when there is nothing to write.
type groupWriter struct {
	db       *sqlx.DB
	onCommit func()

	mutex   sync.Mutex
	closed  bool
	waiting []*groupPart
	working chan struct{} // closed when the goroutine exits; nil: there is none

	connection *sqlx.Conn // used by the goroutine; nil before the first use and after a failure
}

// groupPart is one change of a group.
type groupPart struct {
	ctx     context.Context // the caller's
	change  change
	outcome error         // of the change, if the group's transaction is committed
	done    chan struct{} // closed when outcome is final
}

// write runs the change together with other waiting ones. When ctx ends before its turn, the change is not made; when
// ctx ends later, the outcome is unknown.
func (w *groupWriter) write(ctx context.Context, change change) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	p := &groupPart{ctx: ctx, change: change, done: make(chan struct{})}
	w.mutex.Lock()
	if w.closed {
		w.mutex.Unlock()
		return errClosed
	}
	w.waiting = append(w.waiting, p)
	if w.working == nil {
		w.working = make(chan struct{})
		go w.work()
	}
	w.mutex.Unlock()
	select {
	case <-p.done:
		return p.outcome
	case <-ctx.Done():
		return ctx.Err()
	}
}

// work commits the waiting changes. It first lets other goroutines run, so that more changes share a transaction.
func (w *groupWriter) work() {
	for {
		runtime.Gosched()
		w.mutex.Lock()
		count := min(len(w.waiting), maxGroup)
		group := w.waiting[:count:count]
		w.waiting = w.waiting[count:]
		if count == 0 {
			close(w.working)
			w.waiting, w.working = nil, nil
			w.mutex.Unlock()
			return
		}
		w.mutex.Unlock()
		// A caller that disconnects must not cancel the statements of the others.
		w.commit(context.WithoutCancel(group[0].ctx), group)
	}
}

// commit runs the changes of a group and gives each caller its outcome. A transaction that fails as a whole is retried
// once on a new connection; changes that were committed nevertheless recognise themselves.
func (w *groupWriter) commit(ctx context.Context, group []*groupPart) {
	err := w.try(ctx, group)
	if err != nil && !errors.Is(err, errNotBegun) {
		err = w.try(ctx, group)
	}
	if err == nil {
		w.onCommit()
	}
	for _, p := range group {
		if err != nil {
			p.outcome = fmt.Errorf("%w: %w", es.ErrUnavailable, err)
		}
		close(p.done)
	}
}

// errNotBegun: no transaction could begin, because another process is writing or the file cannot be opened.
var errNotBegun = errors.New("the transaction could not begin")

// try runs a group in one transaction, each change in a savepoint.
func (w *groupWriter) try(ctx context.Context, group []*groupPart) (err error) {
	if w.connection == nil {
		if w.connection, err = w.db.Connx(ctx); err != nil {
			return fmt.Errorf("%w: %w", errNotBegun, err)
		}
	}
	defer func() {
		if err != nil {
			sqldialect.Discard(w.connection.Conn) // this rolls the transaction back in any state of the connection
			w.connection = nil
		}
	}()
	if _, err := w.connection.ExecContext(ctx, "BEGIN IMMEDIATE"); err != nil {
		return fmt.Errorf("%w: %w", errNotBegun, err)
	}
	for _, p := range group {
		if p.outcome = p.ctx.Err(); p.outcome != nil {
			continue
		}
		if err := p.join(ctx, w.connection); err != nil {
			return err
		}
	}
	_, err = w.connection.ExecContext(ctx, "COMMIT")
	return err
}

// join runs the change in the transaction, or leaves that unchanged. It returns an error of the transaction.
func (p *groupPart) join(ctx context.Context, on *sqlx.Conn) error {
	if _, err := on.ExecContext(ctx, "SAVEPOINT part"); err != nil {
		return err
	}
	if p.outcome = p.change(ctx, on); p.outcome != nil {
		if _, err := on.ExecContext(ctx, "ROLLBACK TO part"); err != nil {
			return errors.Join(p.outcome, err)
		}
	}
	_, err := on.ExecContext(ctx, "RELEASE part")
	return err
}

func (w *groupWriter) close(ctx context.Context) error {
	w.mutex.Lock()
	w.closed = true
	working := w.working
	w.mutex.Unlock()
	if working != nil {
		select {
		case <-working:
		case <-ctx.Done():
			return fmt.Errorf("writes of the event store are still in progress: %w", ctx.Err())
		}
	}
	if w.connection != nil {
		_ = w.connection.Close() // back to the pool
		w.connection = nil
	}
	return nil
}
