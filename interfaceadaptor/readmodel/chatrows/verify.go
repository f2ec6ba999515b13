package chatrows

import (
	"context"
	"maps"

	"example.com/threads/es"
	"example.com/threads/es/projection"
	"example.com/threads/es/rowstore"
	"example.com/threads/es/rowstore/table"
	"example.com/threads/usecase/chat"
	"example.com/threads/usecase/query"
)

func threadPart(key es.AggregateID) rowstore.Part[query.Thread] { return partOf(Threads, key, "id") }

func memberPart(key es.AggregateID, window chat.Window) rowstore.Part[query.Member] {
	return within(partOf(Members, key, "thread_id"), "joined_seq", window)
}

func messagePart(key es.AggregateID, window chat.Window) rowstore.Part[query.Message] {
	return within(partOf(Messages, key, "thread_id"), "seq_nr", window)
}

// partOf returns the rows of a thread in a table with a column for the thread's id.
func partOf[R any](in table.Table[R], key es.AggregateID, owner string) rowstore.Part[R] {
	return rowstore.Part[R]{Key: key, Table: in, Where: "tenant_code = ? AND " + owner + " = ?", Args: []any{key.Tenant.String(), key.ID}}
}

// within returns the rows of a window. The column has the SeqNr of the event that created a row.
func within[R any](p rowstore.Part[R], column string, window chat.Window) rowstore.Part[R] {
	if window != (chat.Window{}) {
		p.Where, p.Args = p.Where+" AND "+column+" > ?", append(p.Args, window.After)
	}
	if window.UpTo > 0 {
		p.Where, p.Args = p.Where+" AND "+column+" <= ?", append(p.Args, window.UpTo)
	}
	return p
}

// Compare implements [chat.RowStore]. A missing row of something deleted is no difference: it may have been pruned.
func (Store) Compare(
	ctx context.Context, tx projection.Tx, key es.AggregateID, window chat.Window, want chat.Rows, tell func(projection.Difference),
) (err error) {
	gone := false
	for _, row := range want.Threads {
		gone = row.Deleted
	}
	if window.After == 0 {
		err = threadPart(key).Compare(ctx, tx, maps.Values(want.Threads), func(query.Thread) bool { return gone }, tell)
	}
	if err == nil {
		mayMiss := func(m query.Member) bool { return gone || m.Removed }
		err = memberPart(key, window).Compare(ctx, tx, maps.Values(want.Members), mayMiss, tell)
	}
	if err == nil {
		mayMiss := func(m query.Message) bool { return gone || m.Deleted }
		err = messagePart(key, window).Compare(ctx, tx, maps.Values(want.Messages), mayMiss, tell)
	}
	return err
}

// Clear implements [chat.RowStore].
func (Store) Clear(ctx context.Context, tx projection.Tx, key es.AggregateID) error {
	err := messagePart(key, chat.Window{}).Delete(ctx, tx)
	if err == nil {
		err = memberPart(key, chat.Window{}).Delete(ctx, tx)
	}
	if err == nil {
		err = threadPart(key).Delete(ctx, tx)
	}
	return err
}
