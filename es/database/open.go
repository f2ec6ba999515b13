package database

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/jmoiron/sqlx"
	"go.opentelemetry.io/otel/trace"
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
	// Rebuildable means that the content, including the position, can be rebuilt from another store. A SQLite file then
	// commits without waiting for the disk: a power failure may lose the last transactions as a whole; a crash of the
	// process loses none.
	Rebuildable bool
	// Silence, if not 0, is the time, in whole seconds, after which a server ends a silent connection with its
	// transaction and its locks, so a paused process does not block others for longer. Unused connections are closed
	// before that. SQLite ignores it.
	Silence time.Duration
	// Tracer gives statements below a recorded span spans of their own; nil: no spans.
	Tracer trace.TracerProvider
	// Logger receives the driver's messages about connections; nil discards them.
	Logger *slog.Logger
}

// Open opens a pool for url and checks that the database answers. url is one of
//
//   - the driver's DSN of a MySQL or MariaDB database, such as user:password@tcp(127.0.0.1:3306)/events,
//   - the path of a SQLite file, such as sqlite:data/readmodel.db: everything after the colon, used literally, or
//   - its URI with parameters of the driver, such as file:data/readmodel.db?_pragma=busy_timeout(77); write %, ? and #
//     in the path as %25, %3F and %23.
//
// A missing SQLite file is created; its folder must exist.
//
// Errors say what to correct. They never contain the password.
func Open(ctx context.Context, url string, settings Settings) (*sqlx.DB, error) {
	opened, err := prepare(url, settings)
	if err != nil {
		return nil, err
	}
	db := opened.db
	conns := settings.MaxConns
	if conns <= 0 {
		conns = defaultConns
	}
	db.SetMaxOpenConns(conns)
	db.SetMaxIdleConns(conns)
	db.SetConnMaxIdleTime(idleTimeOf(settings))
	db.SetConnMaxLifetime(lifetime)

	ctx, cancel := context.WithTimeout(ctx, pingTimeout)
	defer cancel()
	if err := db.PingContext(ctx); err != nil {
		_ = db.Close()
		return nil, opened.explain(err)
	}
	return db, nil
}

func idleTimeOf(settings Settings) time.Duration {
	if settings.Silence > 0 {
		return settings.Silence / 2
	}
	return idleTime
}

// DriverOf returns the driver for url, [MySQL] or [SQLite]. It does not connect. A malformed url fails with the same
// error as in Open.
func DriverOf(url string) (string, error) {
	opened, err := prepare(url, Settings{})
	if err != nil {
		return "", err
	}
	return opened.db.DriverName(), opened.db.Close()
}

func prepare(url string, settings Settings) (*pool, error) {
	switch {
	case url == "":
		return nil, fmt.Errorf("no database is set: expected a DSN such as %s, or %s", mysqlExample, sqliteExample)
	case strings.HasPrefix(url, "sqlite:"), strings.HasPrefix(url, "file:"):
		return openSQLite(url, settings)
	default:
		return openMySQL(url, settings)
	}
}

// pool is a pool without connections, and the function that explains its driver's errors.
type pool struct {
	db      *sqlx.DB
	explain func(error) error
}
