package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/jmoiron/sqlx"

	"example.com/threads/es"
	"example.com/threads/es/internal/once"
	"example.com/threads/es/internal/packing"
	"example.com/threads/es/internal/sqldialect"
)

// Settings of a gateway.
type Settings struct {
	SnapshotKeep int // number of snapshots to keep beside the latest
	Clock        func() time.Time
	Logger       *slog.Logger
	Spool        es.SpoolLimits

	// OnAppend, if set, is called after each commit that added entries, before the callers get their answers. It must
	// not block.
	OnAppend func()
}

// Gateway is the EventPersistenceGateway on SQLite, MySQL or MariaDB. It is safe for concurrent use, and any number of
// processes may use the same database. [Gateway.Close] ends it.
type Gateway struct {
	db       *sqlx.DB
	dialect  sqldialect.Dialect
	writer   writer
	settings Settings
	packer   *packing.Packer
	said     once.Set
	trouble  atomic.Pointer[trouble] // nil: none
}

var _ es.Store = (*Gateway)(nil)

// writer runs changes in transactions.
type writer interface {
	// write runs the change in a transaction. It returns when the change is durable, or has failed without any effect.
	write(ctx context.Context, change storeChange) error
	close(ctx context.Context) error
}

// storeChange is a unit of work in a transaction.
type storeChange interface {
	// apply makes the change. After an error it is rolled back.
	apply(ctx context.Context, in session) error
	// refused returns the reason after errRefused; nil when the change is not needed.
	refused(ctx context.Context, in session) error
	// appends reports whether the change adds entries, so that OnAppend must be called.
	appends() bool
}

// upkeep is what changes that append no events have in common. When one is refused, another writer was faster.
type upkeep struct{}

func (upkeep) appends() bool                          { return false }
func (upkeep) refused(context.Context, session) error { return nil }

// singleStatement is a change of one statement, which can be repeated.
type singleStatement struct {
	upkeep
	sql  string
	args []any
}

func statement(sql string, args ...any) singleStatement { return singleStatement{sql: sql, args: args} }

func (s singleStatement) apply(ctx context.Context, in session) error {
	_, err := in.ExecContext(ctx, s.sql, s.args...)
	return err
}

// errRefused: a row is not as the change expects it.
var errRefused = errors.New("a row in the database is not as the change expects it")

// New returns a gateway over a database that has the event store's tables. On SQLite it uses one of db's connections
// only for writing and the others for reading. It does not connect before its first use.
func New(db *sqlx.DB, settings Settings) (*Gateway, error) {
	dialect, err := sqldialect.Of(db)
	switch {
	case err != nil:
		return nil, fmt.Errorf("sqlstore: %w", err)
	case settings.SnapshotKeep < 0:
		return nil, errors.New("sqlstore: the number of snapshots to keep must not be negative")
	case db.DriverName() == "sqlite" && db.Stats().MaxOpenConnections == 1:
		return nil, errors.New("sqlstore: open the database with two or more connections; one is used only for writing")
	case settings.Clock == nil || settings.Logger == nil:
		return nil, errors.New("sqlstore: set a clock and a logger")
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

// Close completes the accepted writes; later ones fail. It does not close the database. When ctx ends first, the
// outcome of the remaining writes is unknown.
func (g *Gateway) Close(ctx context.Context) error { return g.writer.close(ctx) }

// session runs statements: [sqlx.DB], [sqlx.Tx] or [sqlx.Conn].
type session interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
	GetContext(ctx context.Context, dest any, query string, args ...any) error
	SelectContext(ctx context.Context, dest any, query string, args ...any) error
}

// changed runs a statement and returns the number of rows that it affected.
func changed(ctx context.Context, in session, query string, args ...any) (int64, error) {
	result, err := in.ExecContext(ctx, query, args...)
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}
