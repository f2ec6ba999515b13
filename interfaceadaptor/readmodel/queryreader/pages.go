package queryreader

import (
	"context"
	"slices"

	"example.com/threads/domain/thread"
	"example.com/threads/es"
	"example.com/threads/es/rowstore/table"
	"example.com/threads/interfaceadaptor/readmodel/chatrows"
	"example.com/threads/usecase/query"
)

// The tables of the lists. Columns with the same value in all rows are not read, and neither are those that no API
// shows.
var (
	threads  = chatrows.Threads.Without("tenant_code", "deleted", "created_ip", "updated_ip", "request_id", "source")
	members  = chatrows.Members.Without("tenant_code", "removed", "created_ip", "updated_ip", "request_id", "source")
	messages = chatrows.Messages.Without("tenant_code", "deleted", "created_ip", "updated_ip", "request_id", "source")
)

// The lists of the read model.
var (
	membersOfThread = List{
		Columns: members.List("m"),
		From:    `FROM members m WHERE m.tenant_code = ? AND m.thread_id = ? AND m.removed = 0`,
		At:      "m.joined_seq", ID: "m.id",
	}
	messagesOfThread = List{
		Columns: messages.List("s"),
		From:    `FROM messages s WHERE s.tenant_code = ? AND s.thread_id = ? AND s.deleted = 0`,
		At:      "s.seq_nr", ID: "s.id",
	}
)

// Members implements [query.MemberReader].
func (r *Reader) Members(ctx context.Context, tenant es.Tenant, of []thread.ID, page query.Range) (map[thread.ID]query.Page[query.Member], error) {
	return pagesOf(ctx, r, membersOfThread, members, tenant, of, page, func(row query.Member) thread.ID { return row.Thread })
}

// Messages implements [query.MessageReader].
func (r *Reader) Messages(ctx context.Context, tenant es.Tenant, of []thread.ID, page query.Range) (map[thread.ID]query.Page[query.Message], error) {
	return pagesOf(ctx, r, messagesOfThread, messages, tenant, of, page, func(row query.Message) thread.ID { return row.Thread })
}

// ordered is a row with a position in a list.
type ordered[R any] interface{ Compare(other R) int }

// pagesOf reads the same page of the lists of several threads, in one statement unless that exceeds maxSelects.
func pagesOf[R ordered[R]](ctx context.Context, r *Reader, l List, of table.Table[R], tenant es.Tenant, threads []thread.ID, page query.Range,
	threadOf func(R) thread.ID,
) (map[thread.ID]query.Page[R], error) {
	lists := make(map[thread.ID]*foundPage[R], len(threads))
	for _, id := range threads {
		lists[id] = newFound[R](page.Limit / len(threads))
	}
	for some := range slices.Chunk(threads, maxSelects/len(partsOf(page))) {
		var s unionStatement
		for _, id := range some {
			l.add(&s, page, tenant.String(), id.String())
		}
		if err := run(ctx, r, &s, of, func(p selectPart, row R) { lists[threadOf(row)].take(p, row) }); err != nil {
			return nil, err
		}
	}
	pages := make(map[thread.ID]query.Page[R], len(threads))
	for id, list := range lists {
		pages[id] = list.page(l, page)
	}
	return pages, nil
}

// Page reads a page of a list, whose rows are columns of a table. scope are the arguments of the list.
func Page[R ordered[R]](ctx context.Context, r *Reader, of table.Table[R], l List, page query.Range, scope ...any) (query.Page[R], error) {
	var s unionStatement
	l.add(&s, page, scope...)
	found := newFound[R](page.Limit)
	err := run(ctx, r, &s, of, found.take)
	return found.page(l, page), err
}

// foundPage is the result of reading a page.
type foundPage[R ordered[R]] struct {
	items          []R
	previous, next bool // there is a row beyond the bounds
	many           bool // the list is too long for the statement
}

// newFound allocates room for about so many rows.
func newFound[R ordered[R]](rows int) *foundPage[R] {
	return &foundPage[R]{items: make([]R, 0, min(rows+1, 128))}
}

func (f *foundPage[R]) take(p selectPart, row R) {
	switch p {
	case partPrevious:
		f.previous = true
	case partNext:
		f.next = true
	case partMany:
		f.many = true
	case partItems:
		f.items = append(f.items, row)
	}
}

// count returns the number of rows of a part.
func (f *foundPage[R]) count(p selectPart) int {
	switch {
	case p == partItems:
		return len(f.items)
	case p == partPrevious && f.previous, p == partNext && f.next:
		return 1
	}
	return 0
}

// page returns the requested page.
func (f *foundPage[R]) page(l List, asked query.Range) query.Page[R] {
	slices.SortFunc(f.items, func(a, b R) int {
		if l.Descending {
			a, b = b, a
		}
		return a.Compare(b)
	})
	page := query.Page[R]{Items: f.items, HasPrevious: f.previous, HasNext: f.next}
	if surplus := len(f.items) - asked.Limit; surplus > 0 && asked.Backward {
		page.Items, page.HasPrevious = f.items[surplus:], true
	} else if surplus > 0 {
		page.Items, page.HasNext = f.items[:asked.Limit], true
	}
	return page
}
