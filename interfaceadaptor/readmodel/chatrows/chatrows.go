// Package chatrows stores the rows of threads and accounts in the read model's tables, for the projection
// (usecase/chat), and keeps what the process manager [chat.LeaveOnClose] knows. queryreader reads the same tables.
package chatrows

import (
	"context"
	"time"

	"github.com/jmoiron/sqlx"

	"example.com/threads/es"
	"example.com/threads/es/projection"
	"example.com/threads/es/rowstore"
	"example.com/threads/es/rowstore/table"
	"example.com/threads/interfaceadaptor/eventjson"
	"example.com/threads/usecase/chat"
	"example.com/threads/usecase/query"
)

// Projection is the name of the read model's projection.
const Projection = "read-model"

// The tables of the read model, for writing and reading. Tags of the rows name their columns.
var (
	Threads  = table.Of[query.Thread]("threads", 2)
	Members  = table.Of[query.Member]("members", 2)
	Messages = table.Of[query.Message]("messages", 2)
	Accounts = table.Of[query.Account]("accounts", 2)
)

// Tables are the names of the tables that the handlers keep rows in.
func Tables() []string {
	return []string{
		Threads.Name,
		Members.Name,
		Messages.Name,
		Accounts.Name,
	}
}

// Handlers returns all handlers of the read model.
func Handlers() []projection.Handler {
	return []projection.Handler{
		threadRows{eventsOf{eventjson.Threads()}},
		rowstore.OneRow(Accounts, eventjson.Accounts().Events, chat.AccountRowsVersion, chat.NextAccount),
	}
}

// eventsOf is what a handler knows of the events of its aggregate type.
type eventsOf struct{ es.AnyAggregate }

// Decode implements [projection.Handler].
func (e eventsOf) Decode(payload []byte) (projection.Event, error) { return e.DecodeEvent(payload) }

// Pruned counts rows.
type Pruned struct{ Threads, Members, Messages int }

const pruneRows = 500 // maximum per statement

// Prune deletes the rows of things that were deleted before a time: messages, members who left, and threads with all
// their rows. These rows are not readable by anyone, and no event changes them. With dryRun it only counts.
func Prune(ctx context.Context, db *sqlx.DB, before time.Time, dryRun bool) (done Pruned, err error) {
	const ofThread = " OR EXISTS (SELECT 1 FROM threads t WHERE t.tenant_code = r.tenant_code AND t.id = r.thread_id AND t.deleted = 1 AND t.updated_at < ?)"
	at := before.UnixMicro()
	if done.Messages, err = prune(ctx, db, Messages.Name, dryRun, "r.deleted = 1 AND r.updated_at < ?"+ofThread, at, at); err != nil {
		return done, err
	}
	if done.Members, err = prune(ctx, db, Members.Name, dryRun, "r.removed = 1 AND r.updated_at < ?"+ofThread, at, at); err != nil {
		return done, err
	}
	done.Threads, err = prune(ctx, db, Threads.Name, dryRun, "r.deleted = 1 AND r.updated_at < ?", at)
	return done, err
}

// prune deletes the rows for which a condition holds, in the order of their keys.
func prune(ctx context.Context, db *sqlx.DB, from string, dryRun bool, condition string, args ...any) (pruned int, err error) {
	last := []string{"", ""}
	for {
		page := []struct {
			Tenant string `db:"tenant_code"`
			ID     string `db:"id"`
		}{}
		err := db.SelectContext(ctx, &page, "SELECT r.tenant_code, r.id FROM "+from+" r WHERE ("+condition+") AND "+
			"(r.tenant_code > ? OR (r.tenant_code = ? AND r.id > ?)) ORDER BY r.tenant_code, r.id LIMIT ?",
			append(args[:len(args):len(args)], last[0], last[0], last[1], pruneRows)...)
		if err != nil || len(page) == 0 {
			return pruned, err
		}
		keys := make([][]string, len(page))
		for i, row := range page {
			keys[i] = []string{row.Tenant, row.ID}
		}
		if !dryRun {
			where, keyArgs := table.Where([]string{"tenant_code", "id"}, keys)
			if _, err := db.ExecContext(ctx, "DELETE FROM "+from+" WHERE "+where, keyArgs...); err != nil {
				return pruned, err
			}
		}
		pruned, last = pruned+len(page), keys[len(keys)-1]
	}
}
