// Package migration migrates the schemas of relational databases, with goose: up, to the version of the program.
//
// A [Set] is an independent schema with its own version table: several can share a database (sqlstore.Schema,
// rowstore.Schema, a program's own). A program calls [Up] before it starts, or [Check] if something else migrates.
package migration

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"

	"github.com/go-sql-driver/mysql"
	"github.com/jmoiron/sqlx"
	"github.com/pressly/goose/v3"

	"example.com/threads/es/internal/sqldialect"
)

// Set is one schema: its goose migrations for every driver, and the table that records which were applied.
type Set struct {
	Name   string // in words, such as "event store"
	Table  string // records the applied migrations
	Files  fs.FS
	Folder string // of Files; it has a folder for each driver: mysql, sqlite. Empty: Files itself has them
}

// schema is a set in a database.
type schema struct {
	*goose.Provider
	found, program int64 // versions of the database, none if nothing is recorded, and of this program
}

const (
	none = -1

	// Numbers of errors of MySQL.
	duplicateColumn = 1060
	duplicateKey    = 1061
)

// Up migrates the sets' schemas in db to the versions of this program, and returns the migrations that it ran. A newer
// schema stays as it is. It needs two connections of the pool.
func Up(ctx context.Context, db *sqlx.DB, sets ...Set) (taken []string, err error) {
	err = alone(ctx, db, func() error {
		for _, set := range sets {
			schema, err := set.open(ctx, db)
			if err != nil {
				return err
			}
			if schema.found > schema.program {
				continue
			}
			results, err := set.up(ctx, db, schema)
			if err != nil {
				return fmt.Errorf("migrate the %s: %w", set.Name, err)
			}
			for _, result := range results {
				taken = append(taken, result.Source.Path)
			}
		}
		return nil
	})
	return taken, err
}

// up migrates, also after an earlier migration was killed. On MySQL, that may have done something without a record of
// it: goose's table may be empty, and a column or an index be there. A migration that adds one does nothing else.
func (s Set) up(ctx context.Context, db *sqlx.DB, schema schema) (taken []*goose.MigrationResult, err error) {
	if schema.found == none && db.DriverName() == "mysql" {
		if _, err := db.ExecContext(ctx, "DROP TABLE IF EXISTS "+s.Table); err != nil {
			return nil, err
		}
	}
	for {
		results, err := schema.Up(ctx)
		partial, failed := errors.AsType[*goose.PartialError](err)
		if refused, is := errors.AsType[*mysql.MySQLError](err); !failed || !is || refused.Number != duplicateColumn && refused.Number != duplicateKey {
			return append(taken, results...), err
		}
		taken = append(taken, append(partial.Applied, partial.Failed)...)
		_, err = db.ExecContext(ctx, "INSERT INTO "+s.Table+" (version_id, is_applied) VALUES (?, TRUE)", partial.Failed.Source.Version)
		if err != nil {
			return nil, err
		}
	}
}

// Check returns an error that says how to go on if a set's schema in db is older than the one of this program. A newer
// one is accepted: migrations run before the new programs start, and only add to what older programs use, which may be
// started meanwhile. It only reads, so it may run during a migration.
func Check(ctx context.Context, db *sqlx.DB, sets ...Set) error {
	for _, set := range sets {
		schema, err := set.open(ctx, db)
		switch {
		case err != nil:
			return err
		case schema.found < schema.program:
			return fmt.Errorf("the %s in this database is at version %d, and this program needs version %d: migrate the database first",
				set.Name, max(schema.found, 0), schema.program)
		}
	}
	return nil
}

// version returns the latest migration in db; none if nothing is recorded. It does not use the provider, which would
// create its table if it is missing, and disturb a migration that begins at that moment.
func (s Set) version(ctx context.Context, db *sqlx.DB) (version int64, err error) {
	tables := "SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = DATABASE() AND table_name = ?"
	if db.DriverName() == "sqlite" {
		tables = "SELECT COUNT(*) FROM sqlite_master WHERE type = 'table' AND name = ?"
	}
	var exists int
	if err := db.GetContext(ctx, &exists, tables, s.Table); err != nil || exists == 0 {
		return none, err
	}
	err = db.GetContext(ctx, &version, "SELECT COALESCE(MAX(version_id), ?) FROM "+s.Table, none)
	return version, err
}

// open returns the set in db, whose driver is "mysql" (also for MariaDB) or "sqlite".
func (s Set) open(ctx context.Context, db *sqlx.DB) (schema, error) {
	driver := db.DriverName()
	dialect := goose.DialectSQLite3
	if driver == "mysql" {
		dialect = goose.DialectMySQL
	}
	files, err := fs.Sub(s.Files, path.Join(s.Folder, driver))
	if err != nil {
		return schema{}, fmt.Errorf("the migrations of the %s: %w", s.Name, err)
	}
	provider, err := goose.NewProvider(dialect, db.DB, files, goose.WithTableName(s.Table))
	if err != nil {
		return schema{}, fmt.Errorf("the migrations of the %s for the driver %q: %w", s.Name, driver, err)
	}
	found, err := s.version(ctx, db)
	if err != nil {
		return schema{}, fmt.Errorf("read the version of the %s: %w", s.Name, err)
	}
	sources := provider.ListSources() // NewProvider fails without one
	return schema{provider, found, sources[len(sources)-1].Version}, nil
}

const lockWait = 50 // seconds

// alone runs change while no other migration of the database runs. SQLite needs no lock: its migrations are
// transactions. A lock of goose would come too late: goose creates its table before it locks.
func alone(ctx context.Context, db *sqlx.DB, change func() error) error {
	if db.DriverName() != "mysql" {
		return change()
	}
	conn, err := db.Conn(ctx)
	if err != nil {
		return fmt.Errorf("connect to lock the schema: %w", err)
	}
	defer sqldialect.Discard(conn) // and the lock
	switch locked, err := sqldialect.GetLock(ctx, conn, "migrate.", lockWait); {
	case err != nil:
		return fmt.Errorf("lock the schema: %w", err)
	case !locked:
		return errors.New("another migration of this database is running; try again when it is done")
	}
	return change()
}
