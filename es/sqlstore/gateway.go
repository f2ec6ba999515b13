// Package sqlstore implements the EventPersistenceGateway on a relational database: SQLite, MySQL or MariaDB. Package
// es calls it; estest tests its contract; migrations creates and documents its tables; package sqldialect holds the
// differences between the databases.
//
// [Gateway] writes: concurrent Appends share a transaction on SQLite, which allows one writer; on MySQL each has its
// own (writer.go). [Source] hands the events of all aggregates by sequence number to a projection (source.go). Reads
// see every acknowledged Append, and hold at most one page in memory.
package sqlstore

import (
	"cmp"
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"iter"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jmoiron/sqlx"

	"example.com/threads/es"
	"example.com/threads/es/database"
	"example.com/threads/es/internal/packing"
	"example.com/threads/es/internal/sqldialect"
	"example.com/threads/es/migration"
	"example.com/threads/es/rowstore"
)

//go:embed migrations/*/*.sql
var migrations embed.FS

// Schema returns the migrations of the tables of the event store.
func Schema() migration.Set {
	return migration.Set{Name: "event store", Table: "eventstore_migrations", Files: migrations, Folder: "migrations"}
}

// Settings of a gateway.
type Settings struct {
	SnapshotKeep int              // number of snapshots to keep beside the latest
	Clock        func() time.Time // default: time.Now
	OwnerBytes   int              // that the files of an owner in a tenant may hold; default: 256 MiB
	TenantBytes  int              // that all files of a tenant may hold; default: 4 GiB
}

// Gateway is the event store on a database. It is safe for concurrent use by any number of processes.
type Gateway struct {
	DB            *sqlx.DB // for rows and positions beside the events
	owned         bool     // DB is closed with the gateway
	dialect       sqldialect.Dialect
	concurrent    bool // transactions run concurrently, as on MySQL
	writer        writer
	settings      Settings
	packer        *packing.Packer
	full, damaged atomic.Bool // a call has met a full disk, or damaged data
	following     sync.Map    // the *Source that run in this process
}

var _ es.Store = (*Gateway)(nil)

// New returns a gateway over a database that has the event store's tables. On SQLite it uses one of db's connections
// only for writing, and refuses settings with which a power failure could lose acknowledged commits. On MySQL it does
// not connect before its first use.
func New(ctx context.Context, db *sqlx.DB, settings Settings) (*Gateway, error) {
	dialect, err := sqldialect.Of(db)
	concurrent := db.DriverName() == database.MySQL
	switch {
	case err != nil:
		return nil, fmt.Errorf("sqlstore: %w", err)
	case settings.SnapshotKeep < 0:
		return nil, errors.New("sqlstore: the number of snapshots to keep must not be negative")
	case !concurrent && db.Stats().MaxOpenConnections == 1:
		return nil, errors.New("sqlstore: open the database with two or more connections; one is used only for writing")
	}
	if settings.Clock == nil {
		settings.Clock = time.Now
	}
	settings.OwnerBytes, settings.TenantBytes = cmp.Or(settings.OwnerBytes, 256<<20), cmp.Or(settings.TenantBytes, 4<<30)
	g := &Gateway{DB: db, dialect: dialect, concurrent: concurrent, settings: settings, packer: packing.New()}
	if concurrent {
		g.writer = &transactionWriter{db: db, options: dialect.Writing(), onCommit: g.wake}
		return g, nil
	}
	g.writer = &groupWriter{db: db, onCommit: g.wake}
	if err := checkDurability(ctx, db); err != nil {
		return nil, err
	}
	return g, nil
}

// synchronousFull is SQLite's value for a commit that waits until it is on the disk.
const synchronousFull = 2

func checkDurability(ctx context.Context, db *sqlx.DB) error {
	var set struct {
		Journal     string `db:"journal_mode"`
		Synchronous int    `db:"synchronous"`
	}
	err := db.GetContext(ctx, &set, "SELECT journal_mode, synchronous FROM pragma_journal_mode, pragma_synchronous")
	if err == nil && (!strings.EqualFold(set.Journal, "wal") || set.Synchronous < synchronousFull) {
		err = fmt.Errorf("the file is open with journal_mode %s and synchronous %d: open it with WAL and FULL, otherwise a power failure can lose acknowledged commands",
			set.Journal, set.Synchronous)
	}
	return database.Explain("open the event store", err)
}

// wake has the sources of this process look at once for what was committed.
func (g *Gateway) wake() {
	g.following.Range(func(source, _ any) bool {
		source.(*Source).wake()
		return true
	})
}

// Close completes the writes in progress on SQLite, where later ones fail, and closes the database if OpenFile opened
// it. When ctx ends first, the outcome of the remaining writes is unknown.
func (g *Gateway) Close(ctx context.Context) error {
	err := g.writer.close(ctx)
	if g.owned {
		err = errors.Join(err, g.DB.Close())
	}
	return err
}

// OpenFile opens or creates a SQLite file and migrates its tables, with those that projections need (es/rowstore). Only
// one process may use the file. [Gateway.Close] closes it.
func OpenFile(ctx context.Context, path string) (*Gateway, error) {
	db, err := database.Open(ctx, "sqlite:"+path, database.Settings{})
	if err != nil {
		return nil, err
	}
	gateway, err := New(ctx, db, Settings{})
	if err == nil {
		_, err = migration.Up(ctx, db, Schema(), rowstore.Schema())
	}
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	gateway.owned = true
	return gateway, nil
}

// explain adds what failed, and to a failure of the database its class, and remembers what [Gateway.Check] returns.
func (g *Gateway) explain(ctx context.Context, err error, format string, args ...any) error {
	if err == nil {
		return nil
	}
	var handled *es.HandledError
	class := sqldialect.ClassOf(err)
	switch ended := ctx.Err(); {
	case errors.Is(err, es.ErrConflict), errors.As(err, &handled), es.KindOf(err) == es.Inconsistent: // answers
	case class == sqldialect.Full:
		g.full.Store(true)
		err = fmt.Errorf("%w: %w", es.ErrFull, err)
	case class == sqldialect.Damaged:
		g.damaged.Store(true)
		err = fmt.Errorf("%w: %w", es.ErrDamaged, err)
	case errors.Is(ended, context.Canceled):
		err = ended
	case errors.Is(err, es.ErrUnavailable): // says so
	case ended != nil, class == sqldialect.Transient, class == sqldialect.Ended:
		err = fmt.Errorf("%w: %w", es.ErrUnavailable, err)
	}
	return fmt.Errorf("%s: %w", fmt.Sprintf(format, args...), err)
}

// Check returns es.ErrFull after a call has met a full disk, until something can be written again, and es.ErrDamaged
// after one has met damaged data, for ever.
func (g *Gateway) Check(ctx context.Context) error {
	switch {
	case g.damaged.Load():
		return es.ErrDamaged
	case g.full.Load() && g.writer.write(ctx, probe) != nil:
		return es.ErrFull
	}
	g.full.Store(false)
	return nil
}

const probeBytes = 64 << 10

// probe writes as much as a larger command, and leaves nothing.
func probe(ctx context.Context, in session) error {
	_, err := in.ExecContext(ctx, "INSERT INTO file_parts (tenant_code, file, number, encoding, checksum, content, expires_at) "+
		"VALUES ('', 'disk-probe', 0, '', '', ?, 0)", make([]byte, probeBytes))
	if err == nil {
		_, err = in.ExecContext(ctx, "DELETE FROM file_parts WHERE tenant_code = '' AND file = 'disk-probe' AND number = 0")
	}
	return err
}

// session runs statements: [sqlx.DB], [sqlx.Tx] or [sqlx.Conn].
type session interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
	GetContext(ctx context.Context, dest any, query string, args ...any) error
}

// readRow reads one row; false if there is none.
func readRow[R any](ctx context.Context, in session, query string, args ...any) (row R, found bool, err error) {
	err = in.GetContext(ctx, &row, query, args...)
	if errors.Is(err, sql.ErrNoRows) {
		return row, false, nil
	}
	return row, err == nil, err
}

// readPages yields the rows of a query, page by page. args returns the query's arguments before its limit, from the
// last row of the page before, or a zero one. An error says what was done.
func readPages[R any](ctx context.Context, g *Gateway, limit int, query string, args func(last R) []any, doing string) iter.Seq2[R, error] {
	return func(yield func(R, error) bool) {
		var last R
		for {
			var page []R
			if err := g.DB.SelectContext(ctx, &page, query+" LIMIT ?", append(args(last), limit)...); err != nil {
				yield(last, g.explain(ctx, err, "%s", doing))
				return
			}
			for _, last = range page {
				if !yield(last, nil) {
					return
				}
			}
			if len(page) < limit {
				return
			}
		}
	}
}
