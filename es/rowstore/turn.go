package rowstore

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"example.com/threads/es"
	"example.com/threads/es/internal/sqldialect"
	"example.com/threads/es/projection"
)

const (
	// How long the server keeps the lock of a process that says nothing. To lose that of a rebuild costs more.
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
	// Term rises from turn to turn; see [Store.InTerm]. 0 on SQLite.
	Term uint64
	// Held ends with the context that the turn was awaited with, or when the turn is lost; the cause tells.
	Held context.Context
	// GiveUp ends the turn, so that another process has it at once.
	GiveUp func()
}

// AwaitTurn waits for this process's turn; others see its holder. It fails when ctx ends, or with a database's error.
func (s *Store) AwaitTurn(ctx context.Context, holder string) (*Turn, error) {
	if !s.server() {
		return &Turn{Held: ctx, GiveUp: func() {}}, nil
	}
	conn, err := s.connect(ctx, turnSilence)
	if err != nil {
		return nil, err
	}
	term, err := s.takeTurn(ctx, conn, holder)
	if err != nil {
		sqldialect.Discard(conn)
		return nil, err
	}
	held, giveUp := hold(ctx, updaterLock, conn, turnSilence)
	return &Turn{term, held, giveUp}, nil
}

func (s *Store) takeTurn(ctx context.Context, conn *sql.Conn, holder string) (term uint64, err error) {
	for got := false; !got; {
		if got, err = sqldialect.GetLock(ctx, conn, updaterLock, turnWait); err != nil {
			return 0, s.Explain("wait for the lock on the read model", err)
		}
	}
	// Who had the turn before can't write once this is done: a transaction is either over, or finds another term. It is
	// the time, and not the next number, because a replica that has become the writer may lack the last turns.
	now := time.Now().UnixMicro()
	_, err = conn.ExecContext(ctx, "UPDATE projection_turn SET term = GREATEST(term + 1, ?), holder = ?, since = ? WHERE id = 1", now, Cut(holder, byKept), now)
	if err == nil {
		err = conn.QueryRowContext(ctx, "SELECT term FROM projection_turn WHERE id = 1").Scan(&term)
	}
	return term, s.Explain("begin the turn", err)
}

// hold keeps a lock that conn has got until it is given up or lost, also after ctx. held ends with ctx, or the lock.
func hold(ctx context.Context, name string, conn *sql.Conn, silence time.Duration) (held context.Context, giveUp func()) {
	held, end := context.WithCancelCause(ctx)
	lost, stop := context.WithCancelCause(context.WithoutCancel(ctx))
	done := make(chan struct{})
	go func() {
		defer close(done)
		for es.Wait(lost, stillAlive) == nil {
			// What is asked is answered also when the lock is given up: without its connection it could not be freed.
			ctx, cancel := context.WithTimeout(context.WithoutCancel(lost), silence/2)
			var readOnly string // a number, or ON or OFF
			err := conn.QueryRowContext(ctx, "SELECT CONCAT(@@read_only)").Scan(&readOnly)
			cancel()
			if err == nil && readOnly != "0" && readOnly != "OFF" {
				err = errors.New("the server is read only") // a replica's lock is worth nothing
			}
			if err != nil {
				stop(fmt.Errorf("%w: the connection that holds the lock on the read model is lost: %w",
					projection.ErrTermOver, err))
			}
		}
		end(context.Cause(lost))
		// The lock would go with the connection, too, but later.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(lost), time.Second)
		defer cancel()
		_, _ = conn.ExecContext(ctx, "DO RELEASE_LOCK("+sqldialect.LockNamed("?")+")", name)
		sqldialect.Discard(conn)
	}()
	return held, func() { stop(context.Canceled); <-done }
}

// Names of locks; they are the server's, for all of its databases.
const (
	updaterLock = "updater."
	rebuildLock = "rebuild."
)

// lockRebuilds sees that only one rebuild runs, if the database can. It fails with [ErrRebuilding] if another one does.
// held ends with ctx, or with [projection.ErrTermOver] as its cause.
func (s *Store) lockRebuilds(ctx context.Context) (held context.Context, release func(), err error) {
	if !s.server() {
		return ctx, func() {}, nil
	}
	conn, err := s.connect(ctx, rebuildSilence)
	if err != nil {
		return nil, nil, err
	}
	locked, err := sqldialect.GetLock(ctx, conn, rebuildLock, 0)
	if err != nil || !locked {
		sqldialect.Discard(conn)
		return nil, nil, cmp.Or(s.Explain("lock rebuilds", err), ErrRebuilding)
	}
	held, release = hold(ctx, rebuildLock, conn, rebuildSilence)
	return held, release, nil
}

// connect returns a connection that the server closes, and with it the locks that it holds, once it says nothing for so
// long, in whole seconds. It must not go back to the pool: see [sqldialect.Discard].
func (s *Store) connect(ctx context.Context, silence time.Duration) (*sql.Conn, error) {
	conn, err := s.db.Conn(ctx)
	if err != nil {
		return nil, s.Explain("connect", err)
	}
	if _, err := conn.ExecContext(ctx, fmt.Sprintf("SET SESSION wait_timeout = %.0f", silence.Seconds())); err != nil {
		sqldialect.Discard(conn)
		return nil, s.Explain("bound the silence of a connection", err)
	}
	return conn, nil
}
