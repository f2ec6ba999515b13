package sqlstore

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"

	"github.com/jmoiron/sqlx"

	"example.com/threads/interfaceadaptor/eventstore"
	"example.com/threads/interfaceadaptor/sqldialect"
)

// maxGroup bounds how many changes share a transaction, and with it how long the first of them waits for the last.
const maxGroup = 256

var errClosed = fmt.Errorf("%w: this process has closed it", eventstore.ErrUnavailable)

// groupWriter is the one writer that SQLite lets there be. The changes that arrive while a transaction is being
// committed share the next one, so that a wait for the disk serves many; nobody waits for company. Its goroutine is there while
// there is something to write.
type groupWriter struct {
	db       *sqlx.DB
	dialect  sqldialect.Dialect
	onAppend func()

	mutex   sync.Mutex
	waiting []*part
	working bool
	closed  bool
	running sync.WaitGroup

	connection *sqlx.Conn // of the goroutine; nil: none yet, or the last one failed
}

// part is a change in a group.
type part struct {
	ctx     context.Context // the caller's
	change  change
	outcome error         // of the change itself, if the group's transaction is committed
	done    chan struct{} // closed when outcome is what the caller gets
}

// write has the change made with those that wait. When ctx ends before its turn it is not made; when ctx ends later,
// the outcome is unknown.
func (w *groupWriter) write(ctx context.Context, change change) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	p := &part{ctx: ctx, change: change, done: make(chan struct{})}
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

func (w *groupWriter) accept(p *part) error {
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
		// One caller who goes away must not end the others' statements.
		w.commit(context.WithoutCancel(group[0].ctx), group)
	}
}

// next takes those that wait, after those that are about to write had the processor: the more share a transaction, the
// less of everything does each of them cost.
func (w *groupWriter) next() []*part {
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

// commit makes the changes of a group and gives everybody an answer. A transaction that fails as a whole is run once more
// on a new connection: changes that were committed after all recognise themselves.
func (w *groupWriter) commit(ctx context.Context, group []*part) {
	err := w.try(ctx, group)
	if err != nil && !errors.Is(err, errNotBegun) {
		err = w.try(ctx, group)
	}
	added := false
	for _, p := range group {
		if err != nil {
			p.outcome = fmt.Errorf("%w: %w", eventstore.ErrUnavailable, err)
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

// errNotBegun says that a transaction could not begin: another process is writing, or the file can't be opened.
var errNotBegun = errors.New("no transaction could begin")

// try runs a group in one transaction, each change under a savepoint of its own.
func (w *groupWriter) try(ctx context.Context, group []*part) (err error) {
	on, err := w.connect(ctx)
	if err != nil {
		return fmt.Errorf("%w: %w", errNotBegun, err)
	}
	defer func() {
		if err != nil {
			w.disconnect() // whatever state the connection is in: the transaction ends with it
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

// join makes the change a part of the transaction, or leaves the transaction as it was. The error is the
// transaction's.
func (p *part) join(ctx context.Context, on *sqlx.Conn) error {
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

// close finishes what was accepted and gives the connection back.
func (w *groupWriter) close(ctx context.Context) error {
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
		w.disconnect()
		return nil
	case <-ctx.Done():
		return fmt.Errorf("writes of the event store are still under way: %w", ctx.Err())
	}
}
