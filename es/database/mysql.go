package database

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/jmoiron/sqlx"
)

const mysqlExample = "user:password@tcp(127.0.0.1:3306)/events"

const (
	mysqlDialTimeout = 5 * time.Second
	mysqlIOTimeout   = 60 * time.Second // for a network that drops packets; a statement's own limit is its context
)

// mysqlSession holds the session variables of every connection. The DSN overrides them.
var mysqlSession = map[string]string{
	// data that does not fit is an error, not cut
	"sql_mode":                 "'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION'",
	"time_zone":                "'+00:00'",
	"innodb_lock_wait_timeout": "10", // seconds; no caller waits as long as the server's default, 50
}

func openMySQL(dsn string, settings Settings) (*sqlx.DB, func(error) error, error) {
	config, err := mysql.ParseDSN(dsn)
	if err != nil || config.DBName == "" {
		return nil, nil, fmt.Errorf("the DSN of the database is malformed: expected %s, or %s", mysqlExample, sqliteExample)
	}
	if err := config.Apply(mysql.Charset("utf8mb4", "utf8mb4_bin")); err != nil {
		return nil, nil, fmt.Errorf("set the character set: %w", err)
	}
	config.InterpolateParams = true // one round trip per statement instead of three
	config.ClientFoundRows = true   // updates count matched rows, as on SQLite
	config.RejectReadOnly = true    // after a failover, leave the server that has become a replica
	config.ParseTime = true
	config.Loc = time.UTC
	config.MaxAllowedPacket = 0 // use the server's value
	config.Timeout = cmp.Or(config.Timeout, mysqlDialTimeout)
	config.ReadTimeout = cmp.Or(config.ReadTimeout, mysqlIOTimeout)
	config.WriteTimeout = cmp.Or(config.WriteTimeout, mysqlIOTimeout)
	config.Logger = slog.NewLogLogger(cmp.Or(settings.Logger, slog.Default()).Handler(), slog.LevelWarn)
	session := maps.Clone(mysqlSession)
	if settings.Silence > 0 {
		session["wait_timeout"] = fmt.Sprint(int(settings.Silence / time.Second))
	}
	maps.Copy(session, config.Params)
	config.Params = session

	connector, err := mysql.NewConnector(config)
	if err != nil {
		return nil, nil, fmt.Errorf("the DSN of the database can't be used: %w", err)
	}
	explain := func(err error) error { return explainMySQL(config, err) }
	return sqlx.NewDb(open(connector, settings.Tracer), MySQL), explain, nil
}

func explainMySQL(config *mysql.Config, err error) error {
	at := fmt.Sprintf("%s(%s)", config.Net, config.Addr)
	if refused, is := errors.AsType[*mysql.MySQLError](err); is {
		switch refused.Number {
		case 1044, 1045, 1698: // no right to use the database, or to log in (MariaDB: with a password)
			return fmt.Errorf("the database server at %s denied the user %q access to %q: correct user and password in the DSN, or grant the rights: %w",
				at, config.User, config.DBName, err)
		case 1049: // unknown database
			return fmt.Errorf("database %q does not exist at %s: create it (CREATE DATABASE %s CHARACTER SET utf8mb4), or correct the DSN: %w",
				config.DBName, at, config.DBName, err)
		}
	}
	return fmt.Errorf("no answer from the database server at %s: start it, or correct the address in the DSN: %w", at, err)
}
