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

// Members implements [query.Reader].
func (r *Reader) Members(ctx context.Context, tenant es.Tenant, of []thread.ID, page query.Range) (map[thread.ID]query.Page[query.Member], error) {
	page, err := r.begin(ctx, page, errAfter, `SELECT joined_seq FROM members WHERE tenant_code = ? AND id = ? AND thread_id = ?`,
		tenant.String(), page.AfterID, of[0].String())
	if err != nil {
		return nil, err
	}
	return pagesOf(ctx, r, membersOfThread, members, tenant, of, page, func(row query.Member) thread.ID { return row.Thread })
}

// Messages implements [query.Reader].
func (r *Reader) Messages(ctx context.Context, tenant es.Tenant, of []thread.ID, page query.Range) (map[thread.ID]query.Page[query.Message], error) {
	page, err := r.begin(ctx, page, errAfter, `SELECT seq_nr FROM messages WHERE tenant_code = ? AND id = ? AND thread_id = ?`,
		tenant.String(), page.AfterID, of[0].String())
	if err != nil {
		return nil, err
	}
	return pagesOf(ctx, r, messagesOfThread, messages, tenant, of, page, func(row query.Message) thread.ID { return row.Thread })
}

// ordered is a row with a position in a list.
type ordered[R any] interface{ Compare(other R) int }

// pagesOf reads the same page of the lists of several threads, in one statement unless that exceeds maxSelects.
func pagesOf[R ordered[R]](ctx context.Context, r *Reader, l List, of table.Table[R], tenant es.Tenant, threads []thread.ID, page query.Range,
	threadOf func(R) thread.ID,
) (map[thread.ID]query.Page[R], error) {
	lists := make(map[thread.ID]foundPage[R], len(threads))
	for some := range slices.Chunk(threads, maxSelects/len(partsOf(page))) {
		var s unionStatement
		for _, id := range some {
			lists[id] = foundPage[R]{}
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
	found := foundPage[R]{}
	err := run(ctx, r, &s, of, found.take)
	return found.page(l, page), err
}

// foundPage are the rows that were read for a page.
type foundPage[R ordered[R]] map[selectPart][]R

func (f foundPage[R]) take(p selectPart, row R) { f[p] = append(f[p], row) }

// page returns the requested page.
func (f foundPage[R]) page(l List, asked query.Range) query.Page[R] {
	items := f[partItems]
	slices.SortFunc(items, func(a, b R) int {
		if l.Descending {
			a, b = b, a
		}
		return a.Compare(b)
	})
	page := query.Page[R]{Items: items, HasPrevious: len(f[partPrevious]) > 0, HasNext: len(f[partNext]) > 0}
	if surplus := len(items) - asked.Limit; surplus > 0 && asked.Backward {
		page.Items, page.HasPrevious = items[surplus:], true
	} else if surplus > 0 {
		page.Items, page.HasNext = items[:asked.Limit], true
	}
	return page
}
