package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/jmoiron/sqlx"

	"example.com/threads/interfaceadaptor/eventstore"
	"example.com/threads/interfaceadaptor/gateway/internal/once"
	"example.com/threads/interfaceadaptor/gateway/internal/packing"
	"example.com/threads/interfaceadaptor/sqldialect"
)

// Settings of a gateway.
type Settings struct {
	SnapshotKeep int // how many snapshots to keep beside the latest
	Clock        func() time.Time
	Logger       *slog.Logger

	// OnAppend is called after each commit that added entries, before those who wait for it have their answers; nil is
	// nobody. It must not block.
	OnAppend func()
}

// Gateway is the EventPersistenceGateway on SQLite and on MySQL or MariaDB. It is safe for concurrent use; any number
// of processes may work on the same database. [Gateway.Close] ends it.
type Gateway struct {
	db       *sqlx.DB
	dialect  sqldialect.Dialect
	writer   writer
	settings Settings
	packer   *packing.Packer
	said     once.Set
}

var _ eventstore.EventPersistenceGateway = (*Gateway)(nil)

// writer is how changes get into the database.
type writer interface {
	// write has the change made in a transaction, with nothing or all of it done. It returns when that is durable.
	write(ctx context.Context, change change) error
	close(ctx context.Context) error
}

// change is something to be done in a transaction.
type change interface {
	// apply makes the change. With errRefused, or any other error, nothing of it stays.
	apply(ctx context.Context, in session) error
	// refused finds out, after errRefused, why; nil when there was no need of the change.
	refused(ctx context.Context, in session) error
	// appends tells that those who follow the queue want to know.
	appends() bool
}

// errRefused says that what is in the database is in the way of a change.
var errRefused = errors.New("the database does not have what the change expects")

// New makes a gateway over a database that has the event store's tables. On SQLite it takes one of db's connections
// for itself, to write; the others read. It connects to nothing before it is used.
func New(db *sqlx.DB, settings Settings) (*Gateway, error) {
	dialect, err := sqldialect.Of(db)
	switch {
	case err != nil:
		return nil, fmt.Errorf("sqlstore: %w", err)
	case settings.SnapshotKeep < 0:
		return nil, errors.New("sqlstore: the number of kept snapshots can't be negative")
	case db.DriverName() == "sqlite" && db.Stats().MaxOpenConnections == 1:
		return nil, errors.New("sqlstore: one connection is not enough, because it is taken to write: open the database with two or more")
	case settings.Clock == nil || settings.Logger == nil:
		return nil, errors.New("sqlstore: a clock and a logger are needed")
	}
	if settings.OnAppend == nil {
		settings.OnAppend = func() {}
	}
	packer, err := packing.New()
	if err != nil {
		return nil, fmt.Errorf("sqlstore: %w", err)
	}
	gateway := &Gateway{db: db, dialect: dialect, settings: settings, packer: packer}
	if db.DriverName() == "sqlite" {
		gateway.writer = &groupWriter{db: db, dialect: dialect, onAppend: settings.OnAppend}
	} else {
		gateway.writer = &transactionWriter{db: db, dialect: dialect, onAppend: settings.OnAppend}
	}
	return gateway, nil
}

// Close finishes the writes that were accepted; later ones fail. It leaves the database to its owner. When ctx ends
// first, the outcome of what is left is unknown.
func (g *Gateway) Close(ctx context.Context) error { return g.writer.close(ctx) }

// session is where statements run: a transaction, or the pool. [sqlx.DB], [sqlx.Tx] and [sqlx.Conn] have it.
type session interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
	GetContext(ctx context.Context, dest any, query string, args ...any) error
	SelectContext(ctx context.Context, dest any, query string, args ...any) error
}

// changed runs a statement and tells how many rows it met.
func changed(ctx context.Context, in session, query string, args ...any) (int64, error) {
	result, err := in.ExecContext(ctx, query, args...)
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}
