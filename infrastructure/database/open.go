package database

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/jmoiron/sqlx"
)

// The drivers, as [sqlx.DB.DriverName] tells them. MySQL is MariaDB's, too.
const (
	MySQL  = "mysql"
	SQLite = "sqlite"
)

const (
	defaultConns = 16
	pingTimeout  = 10 * time.Second
	idleTime     = 5 * time.Minute
	lifetime     = 30 * time.Minute // lets a pool move to another server behind the same name
)

// Settings are what programs decide about a pool. The zero value is good.
type Settings struct {
	// MaxConns is how many connections there are at most; 0 is 16.
	MaxConns int
	// Rebuildable says that what is in the database can be made again from elsewhere, position included. A SQLite file
	// is then written without waiting for the disk at every commit: a power cut may take the last transactions, whole, and
	// the death of the process none.
	Rebuildable bool
	// Silence, where it is not 0, is after how long, in whole seconds, a server ends a connection that says nothing, with its
	// transaction and its locks: so a process that is paused holds nobody up for longer. A connection that is not in use is
	// closed in time. A SQLite file does not know of it.
	Silence time.Duration
	// Logger takes what the driver has to say about connections; nil is nobody.
	Logger *slog.Logger
}

// Open makes a pool for url and sees that the database answers. url is one of
//
//   - the driver's DSN of a MySQL or MariaDB database, such as user:password@tcp(127.0.0.1:3306)/threads,
//   - the path of a SQLite file, such as sqlite:data/readmodel.db: all behind the colon, with any character in it, or
//   - its URI with parameters of the driver, such as file:data/readmodel.db?_pragma=busy_timeout(77): there %, ? and # of
//     the path are to be written %25, %3F and %23.
//
// A SQLite file is made where there is none; its folder must be there.
//
// Errors say what to correct and never hold the password.
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

// DriverOf tells which driver opens url, [MySQL] or [SQLite]. It fails where Open would whatever is there, with the same
// error, and connects to nothing.
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
		return nil, fmt.Errorf("no database is named: expected a DSN such as %s, or %s", mysqlExample, sqliteExample)
	case strings.HasPrefix(url, "sqlite:"), strings.HasPrefix(url, "file:"):
		return openSQLite(url, settings)
	default:
		return openMySQL(url, settings)
	}
}

// pool is a pool that nobody has talked to yet, and what its driver's errors mean.
type pool struct {
	db      *sqlx.DB
	explain func(error) error
}
