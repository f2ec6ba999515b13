package migration

import (
	"context"
	"errors"
	"fmt"

	"github.com/jmoiron/sqlx"
	"github.com/pressly/goose/v3"
)

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

// Up migrates the sets' schemas in db to the versions of this program, and returns the migrations that it ran. A newer
// schema is not changed and returns a [*VersionError]. It needs two connections of the pool.
func Up(ctx context.Context, db *sqlx.DB, sets ...Set) (taken []string, err error) {
	err = alone(ctx, db, func() error {
		for _, set := range sets {
			provider, err := set.open(ctx, db)
			if err != nil {
				return err
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
		provider, err := set.open(ctx, db)
		if err != nil {
			return err
		}
		result, err := provider.Down(ctx)
		if errors.Is(err, goose.ErrNoNextVersion) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("revert the latest migration of the %s: %w", set, err)
		}
		taken = result.Source.Path
		return nil
	})
	return taken, err
}

// Migration is one step of a set, and whether it was applied to db.
type Migration struct {
	File    string
	Applied bool
}

// Status lists the set's migrations in order.
func Status(ctx context.Context, db *sqlx.DB, set Set) ([]Migration, error) {
	provider, err := set.open(ctx, db)
	if err != nil {
		return nil, err
	}
	states, err := provider.Status(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the state of the %s: %w", set, err)
	}
	migrations := make([]Migration, len(states))
	for i, state := range states {
		migrations[i] = Migration{File: state.Source.Path, Applied: state.State == goose.StateApplied}
	}
	return migrations, nil
}

// Check returns a [*VersionError] if a set's schema in db is not the one of this program. Call it at a program's start.
// It only reads, so it may run during a migration.
func Check(ctx context.Context, db *sqlx.DB, sets ...Set) error {
	return compare(ctx, db, sets, func(found, program int64) bool { return found == program })
}

// Ready is Check for a running program: it also accepts a newer schema, because migrations run before the new programs
// start, and only add to what older programs use.
func Ready(ctx context.Context, db *sqlx.DB, sets ...Set) error {
	return compare(ctx, db, sets, func(found, program int64) bool { return found >= program })
}

func compare(ctx context.Context, db *sqlx.DB, sets []Set, fits func(found, program int64) bool) error {
	for _, set := range sets {
		found, program, err := set.versions(ctx, db)
		if err != nil {
			return err
		}
		if !fits(found, program) {
			return &VersionError{Set: set.Name, Found: found, Program: program}
		}
	}
	return nil
}

// versions returns the versions of the schema in db and of this program.
func (s Set) versions(ctx context.Context, db *sqlx.DB) (found, program int64, err error) {
	provider, err := s.provider(db)
	if err != nil {
		return 0, 0, err
	}
	if found, err = s.version(ctx, db); err != nil {
		return 0, 0, fmt.Errorf("read the version of the %s: %w", s, err)
	}
	if sources := provider.ListSources(); len(sources) > 0 {
		program = sources[len(sources)-1].Version
	}
	return found, program, nil
}

// version returns the latest migration in db; 0 if there is none. It does not use the provider, which would create its
// table if it is missing, and disturb a migration that begins at that moment.
func (s Set) version(ctx context.Context, db *sqlx.DB) (int64, error) {
	tables := "SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = DATABASE() AND table_name = ?"
	if db.DriverName() == "sqlite" {
		tables = "SELECT COUNT(*) FROM sqlite_master WHERE type = 'table' AND name = ?"
	}
	var exists int
	if err := db.GetContext(ctx, &exists, tables, s.Table); err != nil || exists == 0 {
		return 0, err
	}
	var version int64
	err := db.GetContext(ctx, &version, "SELECT COALESCE(MAX(version_id), 0) FROM "+s.Table)
	return version, err
}

// open returns the provider for a database that is not newer than this program.
func (s Set) open(ctx context.Context, db *sqlx.DB) (*goose.Provider, error) {
	var mismatch *VersionError
	if err := Check(ctx, db, s); err != nil && (!errors.As(err, &mismatch) || mismatch.Found > mismatch.Program) {
		return nil, err
	}
	return s.provider(db)
}
