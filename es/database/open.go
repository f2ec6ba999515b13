// Package database opens the relational databases of the programs (MySQL, MariaDB, SQLite). All important settings are
// explicit, so that a statement behaves the same in every program and on every server. Adapters get a *sqlx.DB whose
// DriverName is [MySQL] or [SQLite], and ask what an error means ([Explain], [IsDuplicate]).
package database

import (
	"cmp"
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/XSAM/otelsql"
	"github.com/jmoiron/sqlx"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"example.com/threads/es"
	"example.com/threads/es/internal/sqldialect"
)

// The drivers, as in [sqlx.DB.DriverName]. MySQL is also used for MariaDB.
const (
	MySQL  = "mysql"
	SQLite = "sqlite"
)

const (
	defaultConns = 16
	pingTimeout  = 10 * time.Second
	idleTime     = 5 * time.Minute
	lifetime     = 30 * time.Minute // lets a pool follow a DNS name to another server
)

// Settings of a pool. Zero fields take their defaults.
type Settings struct {
	// MaxConns is the maximum number of connections; default 16.
	MaxConns int
	// Rebuildable means that the content can be rebuilt from another store. A SQLite file then commits without waiting
	// for the disk: a power failure may lose the last transactions as a whole; a crash of the process loses none.
	Rebuildable bool
	// MustExist means that a missing SQLite file is an error; otherwise it is created.
	MustExist bool
	// Silence, if not 0, is the time, in whole seconds, after which a server ends a silent connection, so that a paused
	// process and its locks do not block others for longer. SQLite ignores it.
	Silence time.Duration
	// Tracer gives statements below a recorded span spans of their own; nil: no spans.
	Tracer trace.TracerProvider
	// Later leaves it to the statements to find out that the database does not answer.
	Later bool
	// Logger receives the driver's messages about connections. Default: slog.Default().
	Logger *slog.Logger
}

// Open opens a pool for url and checks that the database answers. url is one of
//
//   - the driver's DSN of a MySQL or MariaDB database, such as user:password@tcp(127.0.0.1:3306)/events,
//   - the path of a SQLite file, such as sqlite:data/readmodel.db: everything after the colon, used literally, or
//   - its URI with parameters of the driver, such as file:data/readmodel.db?_pragma=busy_timeout(77); write %, ? and #
//     in the path as %25, %3F and %23.
//
// A missing SQLite file is created, unless it must exist; its folder must exist.
//
// Errors say what to correct. They never contain the password.
func Open(ctx context.Context, url string, settings Settings) (*sqlx.DB, error) {
	db, explain, err := prepare(url, settings)
	if err != nil {
		return nil, err
	}
	conns := cmp.Or(settings.MaxConns, defaultConns)
	db.SetMaxOpenConns(conns)
	db.SetMaxIdleConns(conns)
	db.SetConnMaxIdleTime(cmp.Or(settings.Silence/2, idleTime))
	db.SetConnMaxLifetime(lifetime)

	ctx, cancel := context.WithTimeout(ctx, pingTimeout)
	defer cancel()
	if err := db.PingContext(ctx); err != nil && !settings.Later {
		_ = db.Close()
		return nil, explain(err)
	}
	return db, nil
}

// DriverOf returns the driver for url, [MySQL] or [SQLite], without connecting. Errors are those of Open.
func DriverOf(url string) (string, error) {
	db, _, err := prepare(url, Settings{})
	if err != nil {
		return "", err
	}
	return db.DriverName(), db.Close()
}

// prepare returns a pool without connections, and the function that explains its driver's errors.
func prepare(url string, settings Settings) (db *sqlx.DB, explain func(error) error, err error) {
	switch {
	case url == "":
		return nil, nil, fmt.Errorf("no database is set: expected a DSN such as %s, or %s", mysqlExample, sqliteExample)
	case strings.HasPrefix(url, "sqlite:"), strings.HasPrefix(url, "file:"):
		return openSQLite(url, settings)
	default:
		return openMySQL(url, settings)
	}
}

// shownText limits the part of a statement, without values, in its span, in bytes: those for many rows are long.
const shownText = 300

// open opens a pool. With a tracer, which may be nil, statements below a recorded span have spans.
func open(connector driver.Connector, tracer trace.TracerProvider) *sql.DB {
	if tracer == nil {
		return sql.OpenDB(connector)
	}
	return otelsql.OpenDB(connector,
		otelsql.WithTracerProvider(tracer),
		otelsql.WithSpanNameFormatter(func(_ context.Context, method otelsql.Method, query string) string {
			verb, _, _ := strings.Cut(strings.TrimSpace(query), " ")
			return cmp.Or(verb, string(method))
		}),
		otelsql.WithAttributesGetter(func(_ context.Context, _ otelsql.Method, query string, _ []driver.NamedValue) []attribute.KeyValue {
			if query == "" {
				return nil
			}
			query = strings.TrimSpace(query)
			return []attribute.KeyValue{attribute.String("db.query.text", query[:min(len(query), shownText)])}
		}),
		otelsql.WithSpanOptions(otelsql.SpanOptions{
			DisableErrSkip: true, DisableQuery: true, OmitConnResetSession: true, OmitConnPrepare: true, OmitRows: true, OmitConnectorConnect: true,
			SpanFilter: func(ctx context.Context, _ otelsql.Method, _ string, _ []driver.NamedValue) bool {
				return trace.SpanFromContext(ctx).IsRecording()
			},
		}))
}

// IsDuplicate reports whether a statement failed because a row with its key exists already.
func IsDuplicate(err error) bool { return sqldialect.ClassOf(err) == sqldialect.Duplicate }

// Explain adds what failed; nil stays nil. It wraps [es.ErrUnavailable] if the same statement may succeed a moment
// later, as after a deadlock, a timeout of the database or a lost connection, but not after the end of the context.
func Explain(doing string, err error) error {
	switch {
	case err == nil:
		return nil
	case sqldialect.ClassOf(err) == sqldialect.Transient:
		return fmt.Errorf("%s: %w: %w", doing, es.ErrUnavailable, err)
	}
	return fmt.Errorf("%s: %w", doing, err)
}
