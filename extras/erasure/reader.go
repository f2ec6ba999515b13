package erasure

import (
	"context"
	"maps"
	"slices"

	"example.com/threads/domain/account"
	"example.com/threads/domain/thread"
	"example.com/threads/es"
	"example.com/threads/usecase/query"
)

// Reader returns a reader of rows that opens sealed names and texts; those of erased people become [Erased].
func (k *Keyring) Reader(rows query.Reader) query.Reader { return openedRows{rows, k} }

type openedRows struct {
	query.Reader
	keys *Keyring
}

// open opens the texts of rows, unless reading them has failed.
func (o openedRows) open(ctx context.Context, failed error, tenant es.Tenant, texts ...Text) error {
	if failed != nil {
		return failed
	}
	return o.keys.Open(ctx, tenant, texts)
}

// Thread implements [query.Reader].
func (o openedRows) Thread(ctx context.Context, viewer query.Viewer, id thread.ID) (query.Thread, error) {
	row, err := o.Reader.Thread(ctx, viewer, id)
	err = o.open(ctx, err, viewer.Tenant, Text{Value: &row.Name})
	return row, err
}

// ThreadByCode implements [query.Reader].
func (o openedRows) ThreadByCode(ctx context.Context, viewer query.Viewer, code thread.Code) (query.Thread, error) {
	row, err := o.Reader.ThreadByCode(ctx, viewer, code)
	err = o.open(ctx, err, viewer.Tenant, Text{Value: &row.Name})
	return row, err
}

// Threads implements [query.Reader].
func (o openedRows) Threads(ctx context.Context, viewer query.Viewer, page query.Range) (query.Page[query.Thread], error) {
	found, err := o.Reader.Threads(ctx, viewer, page)
	texts := make([]Text, len(found.Items))
	for i := range found.Items {
		texts[i] = Text{Value: &found.Items[i].Name}
	}
	return found, o.open(ctx, err, viewer.Tenant, texts...)
}

// Message implements [query.Reader].
func (o openedRows) Message(ctx context.Context, viewer query.Viewer, id thread.MessageID) (query.Message, error) {
	row, err := o.Reader.Message(ctx, viewer, id)
	err = o.open(ctx, err, viewer.Tenant, Text{row.Sender.String(), &row.Text})
	return row, err
}

// Messages implements [query.Reader]. Texts from before ERASURE=on become erased with their sender, too.
func (o openedRows) Messages(ctx context.Context, tenant es.Tenant, threads []thread.ID, page query.Range) (map[thread.ID]query.Page[query.Message], error) {
	found, err := o.Reader.Messages(ctx, tenant, threads, page)
	var texts []Text
	for _, page := range found {
		for i := range page.Items {
			texts = append(texts, Text{page.Items[i].Sender.String(), &page.Items[i].Text})
		}
	}
	return found, o.open(ctx, err, tenant, texts...)
}

// Accounts implements [query.Reader].
func (o openedRows) Accounts(ctx context.Context, tenant es.Tenant, ids []account.ID) (map[account.ID]query.Account, error) {
	found, err := o.Reader.Accounts(ctx, tenant, ids)
	rows, texts := slices.Collect(maps.Values(found)), make([]Text, len(found))
	for i := range rows {
		texts[i] = Text{rows[i].ID.String(), &rows[i].Name}
	}
	err = o.open(ctx, err, tenant, texts...)
	for _, row := range rows {
		found[row.ID] = row
	}
	return found, err
}
