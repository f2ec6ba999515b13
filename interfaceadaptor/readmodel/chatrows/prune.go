package chatrows

import (
	"context"
	"time"

	"github.com/jmoiron/sqlx"

	"example.com/threads/es/database"
)

// Pruned counts rows.
type Pruned struct{ Threads, Members, Messages int }

const pruneRows = 500 // maximum per statement

// Prune deletes the rows of things that were deleted before a time: messages, members who left, and threads with all
// their rows. These rows are not readable by anyone, and no event changes them. With dryRun it only counts, without the
// rows of deleted threads.
func Prune(ctx context.Context, db *sqlx.DB, before time.Time, dryRun bool) (done Pruned, err error) {
	done.Messages, err = prune(ctx, db, Messages.Name, "deleted", before, dryRun, nil)
	if err == nil {
		done.Members, err = prune(ctx, db, Members.Name, "removed", before, dryRun, nil)
	}
	if err == nil {
		done.Threads, err = prune(ctx, db, Threads.Name, "deleted", before, dryRun, func(ctx context.Context, tenant string, threads []string) error {
			for _, table := range []struct {
				name  string
				count *int
			}{{Messages.Name, &done.Messages}, {Members.Name, &done.Members}} {
				n, err := deleteRows(ctx, db, table.name, "thread_id", tenant, threads)
				*table.count += n
				if err != nil {
					return err
				}
			}
			return nil
		})
	}
	return done, err
}

// prune reads a table in the order of its key and deletes the rows that were deleted long ago, after their dependent
// rows.
func prune(
	ctx context.Context, db *sqlx.DB, table, flag string, before time.Time, dryRun bool,
	belongings func(ctx context.Context, tenant string, ids []string) error,
) (pruned int, err error) {
	var last struct {
		Tenant string `db:"tenant_code"`
		ID     string `db:"id"`
	}
	for {
		page := []struct {
			Tenant string `db:"tenant_code"`
			ID     string `db:"id"`
		}{}
		err := db.SelectContext(ctx, &page, "SELECT tenant_code, id FROM "+table+" WHERE "+flag+" = 1 AND updated_at < ? AND "+
			"(tenant_code > ? OR (tenant_code = ? AND id > ?)) ORDER BY tenant_code, id LIMIT ?",
			before.UnixMicro(), last.Tenant, last.Tenant, last.ID, pruneRows)
		if err != nil || len(page) == 0 {
			return pruned, err
		}
		byTenant := make(map[string][]string)
		for _, row := range page {
			byTenant[row.Tenant] = append(byTenant[row.Tenant], row.ID)
		}
		last = page[len(page)-1]
		pruned += len(page)
		if dryRun {
			continue
		}
		for tenant, ids := range byTenant {
			if belongings != nil {
				if err := belongings(ctx, tenant, ids); err != nil {
					return pruned, err
				}
			}
			if _, err := deleteRows(ctx, db, table, "id", tenant, ids); err != nil {
				return pruned, err
			}
		}
	}
}

func deleteRows(ctx context.Context, db *sqlx.DB, table, column, tenant string, ids []string) (int, error) {
	args := []any{tenant}
	for _, id := range ids {
		args = append(args, id)
	}
	result, err := db.ExecContext(ctx, "DELETE FROM "+table+" WHERE tenant_code = ? AND "+column+" IN ("+database.Marks(len(ids))+")", args...)
	if err != nil {
		return 0, err
	}
	n, err := result.RowsAffected()
	return int(n), err
}
