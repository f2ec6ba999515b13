package migration_test

import (
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/jmoiron/sqlx"

	"example.com/threads/es/migration"
	"example.com/threads/es/rowstore"
)

// TestACheckDisturbsNoMigration checks continuously while the schema is created, like programs that wait for it.
func TestACheckDisturbsNoMigration(t *testing.T) {
	onEach(t, func(t *testing.T, db *sqlx.DB) {
		set := rowstore.Schema()
		ctx, stop := context.WithCancel(t.Context())
		var checking sync.WaitGroup
		for range 3 {
			checking.Go(func() {
				for ctx.Err() == nil {
					if err := migration.Check(ctx, db, set); err != nil && !strings.Contains(err.Error(), "migrate the database first") && ctx.Err() == nil {
						t.Errorf("check: %v", err)
						return
					}
				}
			})
		}
		if _, err := migration.Up(t.Context(), db, set); err != nil {
			t.Errorf("up: %v", err)
		}
		stop()
		checking.Wait()
		if err := migration.Check(t.Context(), db, set); err != nil {
			t.Error(err)
		}
	})
}
