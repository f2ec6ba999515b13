// Package chatrows stores the rows of threads and accounts in the read model's tables, for the projection
// (usecase/chat). queryreader reads the same tables; tables.go maps rows to columns.
package chatrows

import (
	"context"

	"example.com/threads/es/projection"
	"example.com/threads/es/rowstore"
	"example.com/threads/interfaceadaptor/chatstore"
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
	}
}

// Handlers returns all handlers of the read model.
func Handlers() []projection.Handler {
	return []projection.Handler{
		chat.NewThreadRows(Store{}, chatstore.Threads().Events),
		chat.AccountRows(rowstore.Rows[query.Account]{Table: Accounts}, chatstore.Accounts().Events),
	}
}

// Store implements [chat.RowStore] in transactions of a [rowstore.Store].
type Store struct{}

// Load implements [chat.RowStore].
func (Store) Load(ctx context.Context, tx projection.Tx, rows chat.Rows) error {
	err := rowstore.Load(ctx, tx, Threads, rows.Threads, primaryOf)
	if err == nil {
		err = rowstore.Load(ctx, tx, Members, rows.Members, primaryOf)
	}
	if err == nil {
		err = rowstore.Load(ctx, tx, Messages, rows.Messages, primaryOf)
	}
	return err
}

func primaryOf[I any](key chat.RowKey[I]) [2]string {
	return [2]string{key.Tenant.String(), key.ID.String()}
}

// Save implements [chat.RowStore].
func (Store) Save(ctx context.Context, tx projection.Tx, rows chat.Rows) error {
	err := rowstore.Save(ctx, tx, Threads, rows.Threads)
	if err == nil {
		err = rowstore.Save(ctx, tx, Members, rows.Members)
	}
	if err == nil {
		err = rowstore.Save(ctx, tx, Messages, rows.Messages)
	}
	return err
}
