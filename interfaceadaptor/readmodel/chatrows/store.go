// Package chatrows stores the rows of threads and accounts in the read model's tables, for the projection
// (usecase/chat). queryreader reads the same tables; tables.go maps rows to columns.
package chatrows

import (
	"context"
	"maps"
	"slices"

	"example.com/threads/es/projection"
	"example.com/threads/es/rowstore"
	"example.com/threads/es/rowstore/table"
	"example.com/threads/interfaceadaptor/accountcodec"
	"example.com/threads/interfaceadaptor/taskcodec"
	"example.com/threads/interfaceadaptor/tenantcodec"
	"example.com/threads/interfaceadaptor/threadcodec"
	"example.com/threads/usecase/chat"
	"example.com/threads/usecase/query"
)

// Projection is the name of the read model's projection.
const Projection = "read-model"

// Tables are the names of the tables that the handlers keep rows in.
func Tables() []string {
	return []string{
		Threads.Name,
		Members.Name,
		Messages.Name,
		Accounts.Name,
		Tenants.Name,
		Tasks.Name,
	}
}

// Handlers returns all handlers of the read model.
func Handlers() []projection.Handler {
	return []projection.Handler{
		chat.NewThreadRows(Store{}, threadcodec.Events().Decode),
		chat.AccountRows(rowstore.Rows[query.Account]{Table: Accounts}, accountcodec.Events().Decode),
		chat.TenantRows(rowstore.Rows[query.Tenant]{Table: Tenants}, tenantcodec.Events().Decode),
		chat.TaskRows(rowstore.Rows[query.Task]{Table: Tasks}, taskcodec.Events().Decode),
	}
}

// Store implements [chat.RowStore] in transactions of a [rowstore.Store].
type Store struct{}

// Load implements [chat.RowStore].
func (Store) Load(ctx context.Context, tx projection.Tx, rows chat.Rows) error {
	in, err := rowstore.SQL(tx)
	if err != nil {
		return err
	}
	if err := load(ctx, in, Threads, rows.Threads); err != nil {
		return err
	}
	if err := load(ctx, in, Members, rows.Members); err != nil {
		return err
	}
	return load(ctx, in, Messages, rows.Messages)
}

func load[I, R any](ctx context.Context, in *rowstore.Tx, from table.Table[R], rows map[chat.RowKey[I]]R) error {
	from = from.In(in.Suffix)
	byID := make(map[[2]string]chat.RowKey[I], len(rows))
	keys := make([][]string, 0, len(rows))
	for key := range rows {
		id := [2]string{key.Tenant.String(), key.ID.String()}
		byID[id] = key
		keys = append(keys, id[:])
	}
	clear(rows)
	err := from.Load(ctx, in, keys, "", func(row R) { rows[byID[[2]string(from.ID(&row))]] = row })
	return in.Explain("read "+from.Name, err)
}

// Save implements [chat.RowStore].
func (Store) Save(ctx context.Context, tx projection.Tx, rows chat.Rows) error {
	in, err := rowstore.SQL(tx)
	if err != nil {
		return err
	}
	if err := save(ctx, in, Threads, rows.Threads); err != nil {
		return err
	}
	if err := save(ctx, in, Members, rows.Members); err != nil {
		return err
	}
	return save(ctx, in, Messages, rows.Messages)
}

func save[K comparable, R any](ctx context.Context, in *rowstore.Tx, into table.Table[R], rows map[K]R) error {
	values := slices.AppendSeq(make([]R, 0, len(rows)), maps.Values(rows))
	return in.Explain("write "+into.Name, into.In(in.Suffix).Upsert(ctx, in, in.Dialect, values))
}
