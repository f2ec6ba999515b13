package sqlstore

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"

	"github.com/jmoiron/sqlx"

	"example.com/threads/es"
	"example.com/threads/es/internal/sqldialect"
)

// maxGroup is the maximum number of changes in a transaction. It limits how long the first waits for the last.
const maxGroup = 256

var errClosed = fmt.Errorf("%w: this process has closed it", es.ErrUnavailable)

// groupWriter is the single writer that SQLite allows. Changes that arrive during a commit share the next transaction,
// and with it one wait for the disk. Writes are never delayed to fill a group. Its goroutine exits when there is
// nothing to write.
type groupWriter struct {
	db       *sqlx.DB
	dialect  sqldialect.Dialect
	onAppend func()

	mutex   sync.Mutex
	waiting []*groupPart
	working bool
	closed  bool
	running sync.WaitGroup

	connection *sqlx.Conn // used by the goroutine; nil before the first use and after a failure
}

// groupPart is one change of a group.
type groupPart struct {
	ctx     context.Context // the caller's
	change  storeChange
	outcome error         // of the change, if the group's transaction is committed
	done    chan struct{} // closed when outcome is final
}

// write runs the change together with other waiting ones. When ctx ends before its turn, the change is not made; when
// ctx ends later, the outcome is unknown.
func (w *groupWriter) write(ctx context.Context, change storeChange) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	p := &groupPart{ctx: ctx, change: change, done: make(chan struct{})}
	if err := w.accept(p); err != nil {
		return err
	}
	select {
	case <-p.done:
		return p.outcome
	case <-ctx.Done():
	}
	select {
	case <-p.done:
		return p.outcome
	default:
		return ctx.Err()
	}
}

func (w *groupWriter) accept(p *groupPart) error {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	if w.closed {
		return errClosed
	}
	w.waiting = append(w.waiting, p)
	if !w.working {
		w.working = true
		w.running.Go(w.work)
	}
	return nil
}

func (w *groupWriter) work() {
	for group := w.next(); len(group) > 0; group = w.next() {
		// A caller that disconnects must not cancel the statements of the others.
		w.commit(context.WithoutCancel(group[0].ctx), group)
	}
}

// next takes the waiting changes. It first lets other goroutines run, so that more changes share the transaction.
func (w *groupWriter) next() []*groupPart {
	runtime.Gosched()
	w.mutex.Lock()
	defer w.mutex.Unlock()
	count := min(len(w.waiting), maxGroup)
	group := w.waiting[:count:count]
	w.waiting = w.waiting[count:]
	if count == 0 {
		w.waiting, w.working = nil, false
	}
	return group
}

// commit runs the changes of a group and gives each caller its outcome. A transaction that fails as a whole is retried
// once on a new connection; changes that were committed nevertheless recognise themselves.
func (w *groupWriter) commit(ctx context.Context, group []*groupPart) {
	err := w.try(ctx, group)
	if err != nil && !errors.Is(err, errNotBegun) {
		err = w.try(ctx, group)
	}
	added := false
	for _, p := range group {
		if err != nil {
			p.outcome = fmt.Errorf("%w: %w", es.ErrUnavailable, err)
		}
		added = added || p.outcome == nil && p.change.appends()
	}
	if added {
		w.onAppend()
	}
	for _, p := range group {
		close(p.done)
	}
}

// errNotBegun: no transaction could begin, because another process is writing or the file cannot be opened.
var errNotBegun = errors.New("the transaction could not begin")

// try runs a group in one transaction, each change in a savepoint.
func (w *groupWriter) try(ctx context.Context, group []*groupPart) (err error) {
	on, err := w.connect(ctx)
	if err != nil {
		return fmt.Errorf("%w: %w", errNotBegun, err)
	}
	defer func() {
		if err != nil {
			w.disconnect() // this rolls the transaction back in any state of the connection
		}
	}()
	if _, err := on.ExecContext(ctx, "BEGIN IMMEDIATE"); err != nil {
		return fmt.Errorf("%w: %w", errNotBegun, err)
	}
	for _, p := range group {
		if p.outcome = p.ctx.Err(); p.outcome != nil {
			continue
		}
		if err := p.join(ctx, on); err != nil {
			return err
		}
	}
	_, err = on.ExecContext(ctx, "COMMIT")
	return err
}

// join runs the change in the transaction, or leaves the transaction unchanged. The returned error is the
// transaction's.
func (p *groupPart) join(ctx context.Context, on *sqlx.Conn) error {
	if _, err := on.ExecContext(ctx, "SAVEPOINT part"); err != nil {
		return err
	}
	p.outcome = p.change.apply(ctx, on)
	if p.outcome != nil {
		if _, err := on.ExecContext(ctx, "ROLLBACK TO part"); err != nil {
			return errors.Join(p.outcome, err)
		}
	}
	if errors.Is(p.outcome, errRefused) {
		p.outcome = p.change.refused(ctx, on)
	}
	_, err := on.ExecContext(ctx, "RELEASE part")
	return err
}

// close completes the accepted changes and returns the connection to the pool.
func (w *groupWriter) close(ctx context.Context) error {
	w.mutex.Lock()
	w.closed = true
	w.mutex.Unlock()
	if err := await(ctx, &w.running); err != nil {
		return err
	}
	w.disconnect()
	return nil
}

// await waits until no write is in progress.
func await(ctx context.Context, running *sync.WaitGroup) error {
	done := make(chan struct{})
	go func() {
		running.Wait()
		close(done)
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("writes of the event store are still in progress: %w", ctx.Err())
	}
}
