package query

import (
	"context"

	"example.com/threads/domain/account"
	"example.com/threads/domain/thread"
	"example.com/threads/es"
	"example.com/threads/extras/erasure"
)

// Opened returns a reader that opens sealed names and texts; those of erased people become [erasure.Erased]. keys is
// nil if erasure is off.
func Opened(reader Reader, keys *erasure.Keyring) Reader { return opened{reader, keys} }

type opened struct {
	Reader
	keys *erasure.Keyring
}

// Thread implements [ThreadReader].
func (o opened) Thread(ctx context.Context, viewer Viewer, id thread.ID) (Thread, error) {
	row, err := o.Reader.Thread(ctx, viewer, id)
	if err != nil {
		return row, err
	}
	row.Name, err = o.keys.OpenOne(ctx, viewer.Tenant, row.Name)
	return row, err
}

// ThreadByCode implements [ThreadReader].
func (o opened) ThreadByCode(ctx context.Context, viewer Viewer, code thread.Code) (Thread, error) {
	row, err := o.Reader.ThreadByCode(ctx, viewer, code)
	if err != nil {
		return row, err
	}
	row.Name, err = o.keys.OpenOne(ctx, viewer.Tenant, row.Name)
	return row, err
}

// Threads implements [ThreadReader].
func (o opened) Threads(ctx context.Context, viewer Viewer, page Range) (Page[Thread], error) {
	found, err := o.Reader.Threads(ctx, viewer, page)
	if err != nil {
		return found, err
	}
	texts := o.texts(len(found.Items))
	for i := range found.Items {
		if name := &found.Items[i].Name; erasure.IsSealed(*name) {
			texts = append(texts, erasure.Text{Value: name})
		}
	}
	return found, o.keys.Open(ctx, viewer.Tenant, texts)
}

// Message implements [MessageReader].
func (o opened) Message(ctx context.Context, viewer Viewer, id thread.MessageID) (Message, error) {
	row, err := o.Reader.Message(ctx, viewer, id)
	if err != nil {
		return row, err
	}
	rows := []Message{row}
	err = o.messages(ctx, viewer.Tenant, [][]Message{rows})
	return rows[0], err
}

// Messages implements [MessageReader].
func (o opened) Messages(ctx context.Context, tenant es.Tenant, threads []thread.ID, page Range) (map[thread.ID]Page[Message], error) {
	found, err := o.Reader.Messages(ctx, tenant, threads, page)
	if err != nil {
		return found, err
	}
	lists := make([][]Message, 0, len(found))
	for _, page := range found {
		lists = append(lists, page.Items)
	}
	return found, o.messages(ctx, tenant, lists)
}

// messages opens the texts of messages in place. Texts from before ERASURE=on become erased with their sender, too.
func (o opened) messages(ctx context.Context, tenant es.Tenant, lists [][]Message) error {
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

// Accounts implements [AccountReader].
func (o opened) Accounts(ctx context.Context, tenant es.Tenant, ids []account.ID) (map[account.ID]Account, error) {
	found, err := o.Reader.Accounts(ctx, tenant, ids)
	if err != nil {
		return found, err
	}
	rows, texts := make([]Account, 0, len(found)), o.texts(len(found))
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
func (o opened) texts(count int) []erasure.Text {
	if o.keys == nil {
		return nil
	}
	return make([]erasure.Text, 0, count)
}

// with adds the text of an owner. With erasure off, only sealed texts are added, because they are an error.
func (o opened) with(texts []erasure.Text, owner thread.UserID, text *string) []erasure.Text {
	if o.keys == nil && !erasure.IsSealed(*text) {
		return texts
	}
	return append(texts, erasure.Text{Owner: owner.String(), Value: text})
}
