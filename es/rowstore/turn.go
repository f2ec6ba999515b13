package rowstore

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"example.com/threads/es"
	"example.com/threads/es/projection"
)

const (
	// turnSilence and rebuildSilence are how long the server keeps the lock of a process that says nothing. To lose the
	// lock of a rebuild costs more than to wait for it.
	turnSilence    = 3 * time.Second
	rebuildSilence = 10 * time.Second
	// stillAlive is how often the process says something.
	stillAlive = 500 * time.Millisecond
	// turnWait is how long one statement waits for the lock.
	turnWait = 1 // s
)

// Turn is the right to write the read model: one process has it at a time. On a server it is a lock of the server's, on
// a connection of its own. The server frees it when the process dies, and when the process says nothing for three
// seconds, as one that is paused. On a SQLite file, which one process keeps, everybody has it.
type Turn struct {
	// Term numbers the turns, from 1 on; see [Store.InTerm]. 0 on SQLite.
	Term uint64
	// Lost ends when the turn is over; never on SQLite.
	Lost context.Context

	lock *serverLock // nil: SQLite
}

// serverLock is a lock of the server, which a connection of its own holds.
type serverLock struct {
	name    string
	conn    *sql.Conn
	silence time.Duration
	lost    context.Context
	stop    context.CancelCauseFunc
	done    chan struct{}
}

// errLost is why a turn or a rebuild has ended that was not given up.
var errLost = errors.New("the connection that holds the lock on the read model is lost")

// AwaitTurn waits until it is this process's turn. holder is what others see of it. It fails when ctx ends, or with an
// error of the database; then it may be tried again.
func (s *Store) AwaitTurn(ctx context.Context, holder string) (*Turn, error) {
	if !s.server() {
		return &Turn{Lost: context.WithoutCancel(ctx)}, nil
	}
	conn, err := s.connect(ctx, turnSilence)
	if err != nil {
		return nil, err
	}
	term, err := s.takeTurn(ctx, conn, holder)
	if err != nil {
		discard(conn)
		return nil, err
	}
	lock := hold(ctx, updaterLock, conn, turnSilence)
	return &Turn{term, lock.lost, lock}, nil
}

func (s *Store) takeTurn(ctx context.Context, conn *sql.Conn, holder string) (term uint64, err error) {
	for got := false; !got; {
		if got, err = getLock(ctx, conn, updaterLock, turnWait); err != nil {
			return 0, s.explain("wait for the lock on the read model", err)
		}
	}
	// Whoever had the turn before can't write any more once this is done: a transaction of theirs is either over, or
	// finds another term.
	_, err = conn.ExecContext(ctx, "UPDATE projection_turn SET term = term + 1, holder = ?, since = ? WHERE id = 1", Cut(holder, byKept), time.Now().UnixMicro())
	if err == nil {
		err = conn.QueryRowContext(ctx, "SELECT term FROM projection_turn WHERE id = 1").Scan(&term)
	}
	return term, s.explain("begin the turn", err)
}

// hold keeps a lock that conn has got, until it is given up or lost; not only until ctx ends.
func hold(ctx context.Context, name string, conn *sql.Conn, silence time.Duration) *serverLock {
	lost, stop := context.WithCancelCause(context.WithoutCancel(ctx))
	lock := &serverLock{name, conn, silence, lost, stop, make(chan struct{})}
	go lock.keep()
	return lock
}

func (l *serverLock) keep() {
	defer close(l.done)
	defer letGo(context.WithoutCancel(l.lost), l.conn, l.name)
	for {
		_ = es.Wait(l.lost, stillAlive)
		if l.lost.Err() != nil {
			return
		}
		ctx, cancel := context.WithTimeout(l.lost, l.silence/2)
		_, err := l.conn.ExecContext(ctx, "DO 1")
		cancel()
		if err != nil && l.lost.Err() == nil {
			l.stop(fmt.Errorf("%w: %w", errLost, err))
			return
		}
	}
}

func (l *serverLock) giveUp() {
	l.stop(context.Canceled)
	<-l.done
}

// GiveUp ends the turn, so that another process has it at once.
func (t *Turn) GiveUp() {
	if t.lock != nil {
		t.lock.giveUp()
	}
}

// Names of locks; they are the server's, for all of its databases.
const (
	updaterLock = "updater."
	rebuildLock = "rebuild."
)

func getLock(ctx context.Context, conn *sql.Conn, name string, seconds int) (bool, error) {
	var got sql.NullInt64
	err := conn.QueryRowContext(ctx, "SELECT GET_LOCK(CONCAT(?, MD5(DATABASE())), ?)", name, seconds).Scan(&got)
	return got.Int64 == 1, err
}

// letGo frees a lock at once, and closes its connection, with which it would go in any case.
func letGo(ctx context.Context, conn *sql.Conn, name string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	_, _ = conn.ExecContext(ctx, "DO RELEASE_LOCK(CONCAT(?, MD5(DATABASE())))", name)
	discard(conn)
}

// Lock implements [projection.RowSets].
func (r *RowSets) Lock(ctx context.Context) (held context.Context, release func(), err error) {
	s := r.store
	if !s.server() {
		return ctx, func() {}, nil
	}
	conn, err := s.connect(ctx, rebuildSilence)
	if err != nil {
		return nil, nil, err
	}
	locked, err := getLock(ctx, conn, rebuildLock, 0)
	if err != nil || !locked {
		discard(conn)
		return nil, nil, cmp.Or(s.explain("lock rebuilds", err), projection.ErrRebuilding)
	}
	lock := hold(ctx, rebuildLock, conn, rebuildSilence)
	held, end := context.WithCancelCause(ctx)
	context.AfterFunc(lock.lost, func() { end(fmt.Errorf("%w: %w", projection.ErrLockLost, context.Cause(lock.lost))) })
	return held, lock.giveUp, nil
}
