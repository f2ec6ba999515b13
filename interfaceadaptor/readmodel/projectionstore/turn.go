package projectionstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"example.com/threads/usecase"
)

const (
	// silence is how long the server keeps the lock of a process that says nothing.
	silence = 3 // s
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
	// Lost ends when the turn is over.
	Lost context.Context

	conn *sql.Conn
	stop context.CancelCauseFunc
	done chan struct{}
}

// ErrLost is why a turn has ended that was not given up.
var ErrLost = errors.New("the connection that holds the lock on the read model is lost")

// AwaitTurn waits until it is this process's turn. holder is what others see of it. It fails when ctx ends, or with an
// error of the database; then it may be tried again.
func (s *Store) AwaitTurn(ctx context.Context, holder string) (*Turn, error) {
	lost, stop := context.WithCancelCause(context.WithoutCancel(ctx))
	turn := &Turn{Lost: lost, stop: stop, done: make(chan struct{})}
	if !s.server() {
		close(turn.done)
		return turn, nil
	}
	conn, err := s.db.Conn(ctx)
	if err != nil {
		stop(err)
		return nil, s.explain("connect for the lock on the read model", err)
	}
	turn.conn = conn
	if turn.Term, err = s.takeTurn(ctx, conn, holder); err != nil {
		stop(err)
		discard(conn)
		return nil, err
	}
	go turn.hold()
	return turn, nil
}

func (s *Store) takeTurn(ctx context.Context, conn *sql.Conn, holder string) (term uint64, err error) {
	if _, err := conn.ExecContext(ctx, fmt.Sprintf("SET SESSION wait_timeout = %d", silence)); err != nil {
		return 0, s.explain("prepare the lock on the read model", err)
	}
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

// hold keeps the lock until the turn is given up or lost.
func (t *Turn) hold() {
	defer close(t.done)
	defer letGo(context.WithoutCancel(t.Lost), t.conn, updaterLock)
	for {
		_ = usecase.Wait(t.Lost, stillAlive)
		if t.Lost.Err() != nil {
			return
		}
		ctx, cancel := context.WithTimeout(t.Lost, silence*time.Second/2)
		_, err := t.conn.ExecContext(ctx, "DO 1")
		cancel()
		if err != nil && t.Lost.Err() == nil {
			t.stop(fmt.Errorf("%w: %w", ErrLost, err))
			return
		}
	}
}

// GiveUp ends the turn, so that another process has it at once.
func (t *Turn) GiveUp() {
	t.stop(context.Canceled)
	<-t.done
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
func (r *RowSets) Lock(ctx context.Context) (release func(), locked bool, err error) {
	s := r.store
	if !s.server() {
		return func() {}, true, nil
	}
	conn, err := s.db.Conn(ctx)
	if err != nil {
		return nil, false, s.explain("connect for the lock on rebuilds", err)
	}
	// The lock lasts as long as the connection, which says nothing while the rebuild works.
	_, err = conn.ExecContext(ctx, "SET SESSION wait_timeout = 86400")
	if err == nil {
		locked, err = getLock(ctx, conn, rebuildLock, 0)
	}
	if err != nil || !locked {
		discard(conn)
		return nil, false, s.explain("lock rebuilds", err)
	}
	return func() { letGo(ctx, conn, rebuildLock) }, true, nil
}
