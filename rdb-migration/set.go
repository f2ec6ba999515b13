package rdbmigration

import (
	"embed"
	"fmt"
	"io/fs"

	"github.com/jmoiron/sqlx"
	"github.com/pressly/goose/v3"
)

// all has one folder per set and, in it, one per driver.
//
//go:embed readmodel/*/*.sql eventstore/*/*.sql
var all embed.FS

// Set is one schema: its migrations for every driver, and the table that records which were applied.
type Set struct {
	name   string
	folder string
	table  string
}

// ReadModel is the schema that read-model-updater writes and read-api reads.
func ReadModel() Set {
	return Set{name: "read model", folder: "readmodel", table: "readmodel_migrations"}
}

// EventStore is the schema that write-api writes and read-model-updater reads if EVENT_STORE is mysql or sqlite.
func EventStore() Set {
	return Set{name: "event store", folder: "eventstore", table: "eventstore_migrations"}
}

// String returns the set's name.
func (s Set) String() string { return s.name }

// provider returns goose for this set on db, whose driver is "mysql" (also for MariaDB) or "sqlite".
func (s Set) provider(db *sqlx.DB) (*goose.Provider, error) {
	var dialect goose.Dialect
	switch driver := db.DriverName(); driver {
	case "mysql":
		dialect = goose.DialectMySQL
	case "sqlite":
		dialect = goose.DialectSQLite3
	default:
		return nil, fmt.Errorf("the %s has no migrations for the driver %q", s.name, driver)
	}
	files, err := fs.Sub(all, s.folder+"/"+db.DriverName())
	if err != nil {
		return nil, fmt.Errorf("the migrations of the %s: %w", s.name, err)
	}
	provider, err := goose.NewProvider(dialect, db.DB, files, goose.WithTableName(s.table))
	if err != nil {
		return nil, fmt.Errorf("the migrations of the %s: %w", s.name, err)
	}
	return provider, nil
}
