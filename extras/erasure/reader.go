package erasure

import (
	"context"

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

// Thread implements [query.ThreadReader].
func (o openedRows) Thread(ctx context.Context, viewer query.Viewer, id thread.ID) (query.Thread, error) {
	row, err := o.Reader.Thread(ctx, viewer, id)
	if err != nil {
		return row, err
	}
	row.Name, err = o.keys.OpenOne(ctx, viewer.Tenant, row.Name)
	return row, err
}

// ThreadByCode implements [query.ThreadReader].
func (o openedRows) ThreadByCode(ctx context.Context, viewer query.Viewer, code thread.Code) (query.Thread, error) {
	row, err := o.Reader.ThreadByCode(ctx, viewer, code)
	if err != nil {
		return row, err
	}
	row.Name, err = o.keys.OpenOne(ctx, viewer.Tenant, row.Name)
	return row, err
}

// Threads implements [query.ThreadReader].
func (o openedRows) Threads(ctx context.Context, viewer query.Viewer, page query.Range) (query.Page[query.Thread], error) {
	found, err := o.Reader.Threads(ctx, viewer, page)
	if err != nil {
		return found, err
	}
	texts := o.texts(len(found.Items))
	for i := range found.Items {
		if name := &found.Items[i].Name; IsSealed(*name) {
			texts = append(texts, Text{Value: name})
		}
	}
	return found, o.keys.Open(ctx, viewer.Tenant, texts)
}

// Message implements [query.MessageReader].
func (o openedRows) Message(ctx context.Context, viewer query.Viewer, id thread.MessageID) (query.Message, error) {
	row, err := o.Reader.Message(ctx, viewer, id)
	if err != nil {
		return row, err
	}
	rows := []query.Message{row}
	err = o.messages(ctx, viewer.Tenant, [][]query.Message{rows})
	return rows[0], err
}

// Messages implements [query.MessageReader].
func (o openedRows) Messages(ctx context.Context, tenant es.Tenant, threads []thread.ID, page query.Range) (map[thread.ID]query.Page[query.Message], error) {
	found, err := o.Reader.Messages(ctx, tenant, threads, page)
	if err != nil {
		return found, err
	}
	lists := make([][]query.Message, 0, len(found))
	for _, page := range found {
		lists = append(lists, page.Items)
	}
	return found, o.messages(ctx, tenant, lists)
}

// messages opens the texts of messages in place. Texts from before ERASURE=on become erased with their sender, too.
func (o openedRows) messages(ctx context.Context, tenant es.Tenant, lists [][]query.Message) error {
	count := 0
	for _, list := range lists {
		count += len(list)
	}
	texts := o.texts(count)
	for _, list := range lists {
		for i := range list {
			texts = o.with(texts, list[i].Sender, &list[i].Text)
		}
	}
	return o.keys.Open(ctx, tenant, texts)
}

// Accounts implements [query.AccountReader].
func (o openedRows) Accounts(ctx context.Context, tenant es.Tenant, ids []account.ID) (map[account.ID]query.Account, error) {
	found, err := o.Reader.Accounts(ctx, tenant, ids)
	if err != nil {
		return found, err
	}
	rows, texts := make([]query.Account, 0, len(found)), o.texts(len(found))
	for _, row := range found {
		rows = append(rows, row)
		texts = o.with(texts, row.ID, &rows[len(rows)-1].Name)
	}
	if err := o.keys.Open(ctx, tenant, texts); err != nil {
		return nil, err
	}
	for _, row := range rows {
		found[row.ID] = row
	}
	return found, nil
}

// texts allocates room for the texts of count rows, if any must be opened.
func (o openedRows) texts(count int) []Text {
	if o.keys == nil {
		return nil
	}
	return make([]Text, 0, count)
}

// with adds the text of an owner. With erasure off, only sealed texts are added, because they are an error.
func (o openedRows) with(texts []Text, owner thread.UserID, text *string) []Text {
	if o.keys == nil && !IsSealed(*text) {
		return texts
	}
	return append(texts, Text{Owner: owner.String(), Value: text})
}
