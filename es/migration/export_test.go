package migration

import (
	"context"
	"errors"
	"fmt"

	"github.com/jmoiron/sqlx"
	"github.com/pressly/goose/v3"
)

// Down reverts the set's latest migration, deleting the data in its tables, and returns its name; "" if there was none.
func Down(ctx context.Context, db *sqlx.DB, set Set) (taken string, err error) {
	err = alone(ctx, db, func() error {
		schema, err := set.open(ctx, db)
		if err != nil {
			return err
		}
		result, err := schema.Down(ctx)
		if err == nil {
			taken = result.Source.Path
		} else if !errors.Is(err, goose.ErrNoNextVersion) {
			return fmt.Errorf("revert the latest migration of the %s: %w", set.Name, err)
		}
		return nil
	})
	return taken, err
}
