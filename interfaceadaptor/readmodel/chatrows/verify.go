package chatrows

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"example.com/threads/es"
	"example.com/threads/es/projection"
	"example.com/threads/es/rowstore"
	"example.com/threads/es/rowstore/table"
	"example.com/threads/usecase/chat"
	"example.com/threads/usecase/query"
)

// rowsOfThread is the condition for the rows of a thread in a table, and the column with the SeqNr of the event that
// created a row; empty means the first event.
type rowsOfThread struct{ owner, seqNr string }

var (
	threadPart   = rowsOfThread{owner: "id"}
	memberPart   = rowsOfThread{"thread_id", "joined_seq"}
	messagesPart = rowsOfThread{"thread_id", "seq_nr"}
)

func (r rowsOfThread) where(key es.AggregateID, window chat.Window) (string, []any) {
	where, args := "tenant_code = ? AND "+r.owner+" = ?", []any{key.Tenant.String(), key.ID}
	if r.seqNr != "" && window != (chat.Window{}) {
		where, args = where+" AND "+r.seqNr+" > ?", append(args, window.After)
		if window.UpTo > 0 {
			where, args = where+" AND "+r.seqNr+" <= ?", append(args, window.UpTo)
		}
	}
	return where, args
}

// Compare implements [chat.RowStore]. A missing row of something deleted is no difference: it may have been pruned.
func (Store) Compare(
	ctx context.Context, tx projection.Tx, key es.AggregateID, window chat.Window, want chat.Rows, tell func(projection.Difference),
) error {
	in, err := rowstore.SQL(tx)
	if err != nil {
		return err
	}
	gone := false
	for _, row := range want.Threads {
		gone = row.Deleted
	}
	c := comparison{in: in, key: key, window: window, tell: tell}
	if window.After == 0 {
		if err := compare(ctx, c, Threads, threadPart, want.Threads, func(query.Thread) bool { return gone }); err != nil {
			return err
		}
	}
	if err := compare(ctx, c, Members, memberPart, want.Members, func(m query.Member) bool { return gone || m.Removed }); err != nil {
		return err
	}
	return compare(ctx, c, Messages, messagesPart, want.Messages, func(m query.Message) bool { return gone || m.Deleted })
}

// comparison is a comparison in progress and the receiver of its differences.
type comparison struct {
	in     *rowstore.Tx
	key    es.AggregateID
	window chat.Window
	tell   func(projection.Difference)
}

func (c comparison) add(row, what, expected, found string) {
	c.tell(projection.Difference{Key: c.key, Row: row, What: what, Expected: expected, Found: found})
}

// compare compares the rows of a table with the expected ones, some of which may be missing.
func compare[K comparable, R any](
	ctx context.Context, c comparison, from table.Table[R], part rowsOfThread, want map[K]R, mayMiss func(R) bool,
) error {
	missing := make(map[string]R, len(want))
	for _, row := range want {
		missing[from.Describe(row)] = row
	}
	where, args := part.where(c.key, c.window)
	statement := "SELECT " + strings.Join(from.Columns, ", ") + " FROM " + from.In(c.in.Suffix).Name + " WHERE " + where
	err := from.Query(ctx, c.in, func(found R) {
		name := from.Describe(found)
		expected, known := missing[name]
		if !known {
			c.add(name, "a row that no event makes", "no row", "a row")
			return
		}
		delete(missing, name)
		for _, column := range from.Differences(expected, found) {
			c.add(name, column.Column, fmt.Sprintf("%.200q", column.Expected), fmt.Sprintf("%.200q", column.Found))
		}
	}, statement, args...)
	if errors.Is(err, table.ErrRow) {
		c.add("a row of "+from.Name, "it holds what can't be there", "values of its columns", err.Error())
		return nil // the other differences are unknown; a repair rebuilds these rows, too
	}
	if err != nil {
		return c.in.Explain("compare "+from.Name, err)
	}
	for name, row := range missing {
		if !mayMiss(row) {
			c.add(name, "a row is missing", "a row", "no row")
		}
	}
	return nil
}

// Clear implements [chat.RowStore].
func (Store) Clear(ctx context.Context, tx projection.Tx, key es.AggregateID) error {
	in, err := rowstore.SQL(tx)
	if err != nil {
		return err
	}
	for _, from := range []struct {
		name string
		part rowsOfThread
	}{{Messages.Name, messagesPart}, {Members.Name, memberPart}, {Threads.Name, threadPart}} {
		where, args := from.part.where(key, chat.Window{})
		if _, err := in.ExecContext(ctx, "DELETE FROM "+from.name+in.Suffix+" WHERE "+where, args...); err != nil {
			return in.Explain("delete rows of "+from.name, err)
		}
	}
	return nil
}
