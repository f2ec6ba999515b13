// Package migration migrates the schemas of relational databases up and down, with goose.
//
// A [Set] is an independent schema with its own version table: several can share a database (sqlstore.Schema,
// rowstore.Schema, a program's own). A program calls [Up] before it starts, or [Check] if something else migrates.
package migration

import (
	"context"
	"database/sql"
	"errors"
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

// VersionError: the schema of a database does not match this program.
type VersionError struct {
	Set     string
	Found   int64 // version of the database
	Program int64 // version that this program needs
}

func (e *VersionError) Error() string {
	if e.Found > e.Program {
		return fmt.Sprintf("the %s in this database is at version %d, which a newer version of the program has created; this one knows versions up to %d: run the newer program",
			e.Set, e.Found, e.Program)
	}
	return fmt.Sprintf("the %s in this database is at version %d, and this program needs version %d: migrate the database first", e.Set, e.Found, e.Program)
}

// newer: a newer version of the program has migrated the database.
func (e *VersionError) newer() bool { return e != nil && e.Found > e.Program }

// Up migrates the sets' schemas in db to the versions of this program, and returns the migrations that it ran. A newer
// schema is not changed and returns a [*VersionError]. It needs two connections of the pool.
func Up(ctx context.Context, db *sqlx.DB, sets ...Set) (taken []string, err error) {
	err = alone(ctx, db, func() error {
		for _, set := range sets {
			provider, mismatch, err := set.open(ctx, db)
			if err != nil {
				return err
			}
			if mismatch.newer() {
				return mismatch
			}
			results, err := provider.Up(ctx)
			if err != nil {
				return fmt.Errorf("migrate the %s: %w", set, err)
			}
			for _, result := range results {
				taken = append(taken, result.Source.Path)
			}
		}
		return nil
	})
	return taken, err
}

// Down reverts the set's latest migration, deleting the data in its tables, and returns its name; "" if there was none.
// It needs two connections of the pool.
func Down(ctx context.Context, db *sqlx.DB, set Set) (taken string, err error) {
	err = alone(ctx, db, func() error {
		provider, mismatch, err := set.open(ctx, db)
		if err != nil {
			return err
		}
		if mismatch.newer() {
			return mismatch
		}
		result, err := provider.Down(ctx)
		if err == nil {
			taken = result.Source.Path
		} else if !errors.Is(err, goose.ErrNoNextVersion) {
			return fmt.Errorf("revert the latest migration of the %s: %w", set, err)
		}
		return nil
	})
	return taken, err
}

// Check returns a [*VersionError] if a set's schema in db is not the one of this program. Call it at a program's start.
// It only reads, so it may run during a migration.
func Check(ctx context.Context, db *sqlx.DB, sets ...Set) error { return check(ctx, db, sets, false) }

// Ready is Check for a running program: it also accepts a newer schema, because migrations run before the new programs
// start, and only add to what older programs use.
func Ready(ctx context.Context, db *sqlx.DB, sets ...Set) error { return check(ctx, db, sets, true) }

func check(ctx context.Context, db *sqlx.DB, sets []Set, acceptNewer bool) error {
	for _, set := range sets {
		_, mismatch, err := set.open(ctx, db)
		if err != nil {
			return err
		}
		if mismatch != nil && (!acceptNewer || !mismatch.newer()) {
			return mismatch
		}
	}
	return nil
}

// version returns the latest migration in db; 0 if there is none. It does not use the provider, which would create its
// table if it is missing, and disturb a migration that begins at that moment.
func (s Set) version(ctx context.Context, db *sqlx.DB) (version int64, err error) {
	tables := "SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = DATABASE() AND table_name = ?"
	if db.DriverName() == "sqlite" {
		tables = "SELECT COUNT(*) FROM sqlite_master WHERE type = 'table' AND name = ?"
	}
	var exists int
	if err := db.GetContext(ctx, &exists, tables, s.Table); err != nil || exists == 0 {
		return 0, err
	}
	err = db.GetContext(ctx, &version, "SELECT COALESCE(MAX(version_id), 0) FROM "+s.Table)
	return version, err
}

// open returns goose for this set on db, whose driver is "mysql" (also for MariaDB) or "sqlite", and how the schema
// differs from the program's, if it does.
func (s Set) open(ctx context.Context, db *sqlx.DB) (*goose.Provider, *VersionError, error) {
	driver := db.DriverName()
	dialect := goose.DialectSQLite3
	if driver == "mysql" {
		dialect = goose.DialectMySQL
	}
	files, err := fs.Sub(s.Files, path.Join(s.Folder, driver))
	if err != nil {
		return nil, nil, fmt.Errorf("the migrations of the %s: %w", s.Name, err)
	}
	provider, err := goose.NewProvider(dialect, db.DB, files, goose.WithTableName(s.Table))
	if err != nil {
		return nil, nil, fmt.Errorf("the migrations of the %s for the driver %q: %w", s.Name, driver, err)
	}
	found, err := s.version(ctx, db)
	if err != nil {
		return nil, nil, fmt.Errorf("read the version of the %s: %w", s, err)
	}
	sources := provider.ListSources() // NewProvider fails without one
	if program := sources[len(sources)-1].Version; found != program {
		return provider, &VersionError{Set: s.Name, Found: found, Program: program}, nil
	}
	return provider, nil, nil
}

const (
	lockName = "CONCAT('migrate.', MD5(DATABASE()))"
	lockWait = 50 // seconds
)

// alone runs change while no other migration of the database runs. MySQL releases the lock with the connection. SQLite
// needs none: its migrations are transactions. A lock of goose would come too late: it looks for pending migrations,
// and creates its table for that, before it locks.
func alone(ctx context.Context, db *sqlx.DB, change func() error) (err error) {
	if db.DriverName() != "mysql" {
		return change()
	}
	conn, err := db.Conn(ctx)
	if err != nil {
		return fmt.Errorf("connect to lock the schema: %w", err)
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	var got sql.NullInt64
	if err := conn.QueryRowContext(ctx, fmt.Sprintf("SELECT GET_LOCK(%s, %d)", lockName, lockWait)).Scan(&got); err != nil {
		return fmt.Errorf("lock the schema: %w", err)
	}
	if got.Int64 != 1 {
		return errors.New("another migration of this database is running; try again when it is done")
	}
	err = change()
	// Release the lock even if ctx has ended, because the connection returns to the pool.
	_, unlockErr := conn.ExecContext(context.WithoutCancel(ctx), "DO RELEASE_LOCK("+lockName+")")
	return errors.Join(err, unlockErr)
}
