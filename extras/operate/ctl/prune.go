// extra:chat

package ctl

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/jmoiron/sqlx"

	"example.com/threads/es/database"
	"example.com/threads/es/rowstore/table"
	"example.com/threads/interfaceadaptor/readmodel/chatrows"
)

const (
	leastAge   = 24 * time.Hour // of dropped rows
	pruneBatch = 500            // rows that are read at once
)

type prune struct {
	OlderThan time.Duration `required:"" help:"such as 720h; at least 24h"`
	DryRun    bool          `help:"count the rows to drop, and drop nothing"`
}

func (prune) Help() string {
	return `Drops data that can no longer be read: rows of the read model that were deleted longer ago than
--older-than. Events stay, and on a relational event store receipts, so that a repeated command always gets its first
answer. These rows are not dropped automatically. Inputs and results of tasks are, and on DynamoDB receipts.`
}

func (cmd *prune) Validate() error {
	if cmd.OlderThan < leastAge {
		return fmt.Errorf("--older-than must be %s at least", leastAge)
	}
	return nil
}

func (cmd *prune) Run(ctx context.Context, c *call) error {
	before := time.Now().Add(-cmd.OlderThan).UTC()
	rows, err := pruneRows(ctx, c.db, before, cmd.DryRun)
	if err != nil {
		return fmt.Errorf("prune the read model: %w", err)
	}
	return c.print(true, map[string]any{
		"dry_run": cmd.DryRun, "before": before, "threads": rows.Threads, "members": rows.Members, "messages": rows.Messages,
	})
}

type prunedRows struct{ Threads, Members, Messages int }

// pruneRows deletes the rows of things that were deleted before a time: messages, members who left, and threads with
// all their rows. These rows are not readable by anyone, and no event changes them. With dryRun it only counts.
func pruneRows(ctx context.Context, db *sqlx.DB, before time.Time, dryRun bool) (done prunedRows, err error) {
	const ofThread = " OR EXISTS (SELECT 1 FROM threads t WHERE t.tenant_code = r.tenant_code AND t.id = r.thread_id AND t.deleted = 1 AND t.updated_at < ?)"
	at := before.UnixMicro()
	if done.Messages, err = pruneTable(ctx, db, chatrows.Messages.Name, dryRun, "r.deleted = 1 AND r.updated_at < ?"+ofThread, at, at); err != nil {
		return done, err
	}
	if done.Members, err = pruneTable(ctx, db, chatrows.Members.Name, dryRun, "r.removed = 1 AND r.updated_at < ?"+ofThread, at, at); err != nil {
		return done, err
	}
	done.Threads, err = pruneTable(ctx, db, chatrows.Threads.Name, dryRun, "r.deleted = 1 AND r.updated_at < ?", at)
	return done, err
}

// pruneTable deletes the rows for which a condition holds, in the order of their keys.
func pruneTable(ctx context.Context, db *sqlx.DB, from string, dryRun bool, condition string, args ...any) (pruned int, err error) {
	type key struct {
		Tenant string `db:"tenant_code"`
		ID     string `db:"id"`
	}
	for keys, last := table.Of[key](from, 2), (key{}); ; {
		// Each database finds the place in an index with one of the two forms only.
		beyond, place := "(r.tenant_code, r.id) > (?, ?)", []any{last.Tenant, last.ID}
		if db.DriverName() == database.MySQL {
			beyond, place = "(r.tenant_code > ? OR (r.tenant_code = ? AND r.id > ?))", []any{last.Tenant, last.Tenant, last.ID}
		}
		var page [][]string
		err := keys.Select(ctx, db, func(row key) { page, last = append(page, keys.ID(&row)), row },
			"r WHERE ("+condition+") AND "+beyond+" ORDER BY r.tenant_code, r.id LIMIT ?", slices.Concat(args, place, []any{pruneBatch})...)
		if err == nil && !dryRun {
			err = keys.Delete(ctx, db, page)
		}
		if err != nil || len(page) == 0 {
			return pruned, err
		}
		pruned += len(page)
	}
}
