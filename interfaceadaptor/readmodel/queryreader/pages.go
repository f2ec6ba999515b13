package queryreader

import (
	"cmp"
	"context"
	"slices"

	"example.com/threads/domain/thread"
	"example.com/threads/interfaceadaptor/readmodel/chatrows"
	"example.com/threads/interfaceadaptor/readmodel/table"
	"example.com/threads/usecase"
	"example.com/threads/usecase/query"
)

// The lists of the read model.
var (
	threadsOfViewer = list{
		columns: chatrows.Threads.List("t"),
		from: `FROM members v JOIN threads t ON t.tenant_code = v.tenant_code AND t.id = v.thread_id AND t.deleted = 0
			WHERE v.tenant_code = ? AND v.user_account_id = ? AND v.removed = 0`,
		at: "t.updated_at", id: "t.id", descending: true,
	}
	membersOfThread = list{
		columns: chatrows.Members.List("m"),
		from:    `FROM members m WHERE m.tenant_code = ? AND m.thread_id = ? AND m.removed = 0`,
		at:      "m.joined_seq", id: "m.id",
	}
	messagesOfThread = list{
		columns: chatrows.Messages.List("s"),
		from:    `FROM messages s WHERE s.tenant_code = ? AND s.thread_id = ? AND s.deleted = 0`,
		at:      "s.seq_nr", id: "s.id",
	}
)

// Threads implements [query.ThreadReader].
func (r *Reader) Threads(ctx context.Context, viewer query.Viewer, page query.Range) (query.Page[query.Thread], error) {
	var s statement
	threadsOfViewer.add(&s, page, viewer.Tenant.String(), viewer.User.String())
	found, err := run(ctx, r, &s, chatrows.Threads)
	return assemble(threadsOfViewer, page, found), err
}

// Members implements [query.MemberReader].
func (r *Reader) Members(ctx context.Context, tenant usecase.Tenant, threads []thread.ID, page query.Range) (map[thread.ID]query.Page[query.Member], error) {
	return pagesOf(ctx, r, membersOfThread, chatrows.Members, tenant, threads, page, func(row query.Member) thread.ID { return row.Thread })
}

// Messages implements [query.MessageReader].
func (r *Reader) Messages(ctx context.Context, tenant usecase.Tenant, threads []thread.ID, page query.Range) (map[thread.ID]query.Page[query.Message], error) {
	return pagesOf(ctx, r, messagesOfThread, chatrows.Messages, tenant, threads, page, func(row query.Message) thread.ID { return row.Thread })
}

// positioned is a row with a position in a list.
type positioned interface{ Position() query.Position }

// pagesOf reads the same page of the lists of several threads, in one statement unless that exceeds maxSelects.
func pagesOf[R positioned](ctx context.Context, r *Reader, l list, of table.Table[R], tenant usecase.Tenant, threads []thread.ID, page query.Range,
	threadOf func(R) thread.ID,
) (map[thread.ID]query.Page[R], error) {
	found := make(map[thread.ID][]item[R], len(threads))
	for some := range slices.Chunk(threads, maxSelects/selects(page)) {
		var s statement
		for _, id := range some {
			l.add(&s, page, tenant.String(), id.String())
		}
		items, err := run(ctx, r, &s, of)
		if err != nil {
			return nil, err
		}
		for _, item := range items {
			id := threadOf(item.row)
			found[id] = append(found[id], item)
		}
	}
	pages := make(map[thread.ID]query.Page[R], len(threads))
	for _, id := range threads {
		pages[id] = assemble(l, page, found[id])
	}
	return pages, nil
}

// item is a row of a page, or a row beyond its bounds.
type item[R positioned] struct {
	part part
	row  R
}

// assemble builds the page from the rows that were found.
func assemble[R positioned](l list, page query.Range, found []item[R]) query.Page[R] {
	var result query.Page[R]
	items := make([]item[R], 0, len(found))
	for _, f := range found {
		switch f.part {
		case partPrevious:
			result.HasPrevious = true
		case partNext:
			result.HasNext = true
		case partItems:
			items = append(items, f)
		}
	}
	slices.SortFunc(items, func(a, b item[R]) int {
		first, second := a.row.Position(), b.row.Position()
		order := cmp.Or(cmp.Compare(first.At, second.At), cmp.Compare(first.ID, second.ID))
		if l.descending {
			return -order
		}
		return order
	})
	if surplus := len(items) - page.Limit; surplus > 0 && page.Backward {
		items, result.HasPrevious = items[surplus:], true
	} else if surplus > 0 {
		items, result.HasNext = items[:page.Limit], true
	}
	result.Items = make([]R, len(items))
	for i, it := range items {
		result.Items[i] = it.row
	}
	return result
}
