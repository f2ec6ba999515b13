package migration

import (
	"fmt"
	"io/fs"
	"path"

	"github.com/jmoiron/sqlx"
	"github.com/pressly/goose/v3"
)

// Set is one schema: its goose migrations for every driver, and the table that records which were applied.
type Set struct {
	Name   string // in words, such as "event store"
	Table  string // records the applied migrations
	Files  fs.FS
	Folder string // of Files; it has a folder for each driver: mysql, sqlite. Empty: Files itself has them
}

// String returns the set's name.
func (s Set) String() string { return s.Name }

// provider returns goose for this set on db, whose driver is "mysql" (also for MariaDB) or "sqlite".
func (s Set) provider(db *sqlx.DB) (*goose.Provider, error) {
	var dialect goose.Dialect
	switch driver := db.DriverName(); driver {
	case "mysql":
		dialect = goose.DialectMySQL
	case "sqlite":
		dialect = goose.DialectSQLite3
	default:
		return nil, fmt.Errorf("the %s has no migrations for the driver %q", s.Name, driver)
	}
	files, err := fs.Sub(s.Files, path.Join(s.Folder, db.DriverName()))
	if err != nil {
		return nil, fmt.Errorf("the migrations of the %s: %w", s.Name, err)
	}
	provider, err := goose.NewProvider(dialect, db.DB, files, goose.WithTableName(s.Table))
	if err != nil {
		return nil, fmt.Errorf("the migrations of the %s: %w", s.Name, err)
	}
	return provider, nil
}
