package queryreader

import (
	"cmp"
	"context"
	"slices"

	"example.com/threads/domain/thread"
	"example.com/threads/usecase"
	"example.com/threads/usecase/query"
)

// The lists there are.
var (
	threadsOfViewer = list{
		columns: threadColumns,
		from: `FROM members v JOIN threads t ON t.tenant_code = v.tenant_code AND t.id = v.thread_id AND t.deleted = 0
			WHERE v.tenant_code = ? AND v.user_account_id = ? AND v.removed = 0`,
		at: "t.updated_at", id: "t.id", descending: true,
	}
	membersOfThread = list{
		columns: memberColumns,
		from:    `FROM members m WHERE m.tenant_code = ? AND m.thread_id = ? AND m.removed = 0`,
		at:      "m.joined_seq", id: "m.id",
	}
	messagesOfThread = list{
		columns: messageColumns,
		from:    `FROM messages s WHERE s.tenant_code = ? AND s.thread_id = ? AND s.deleted = 0`,
		at:      "s.seq_nr", id: "s.id",
	}
)

// Threads implements [query.ThreadReader].
func (r *Reader) Threads(ctx context.Context, viewer query.Viewer, page query.Range) (query.Page[query.Thread], error) {
	var s statement
	threadsOfViewer.add(&s, page, viewer.Tenant.String(), viewer.User.String())
	rows, err := run[threadRow](ctx, r, &s)
	if err != nil {
		return query.Page[query.Thread]{}, err
	}
	found := make([]item[query.Thread], len(rows))
	for i, row := range rows {
		value, err := row.thread()
		if err != nil {
			return query.Page[query.Thread]{}, err
		}
		found[i] = item[query.Thread]{row.Part, value, value.Position()}
	}
	return assemble(threadsOfViewer, page, found), nil
}

// Members implements [query.MemberReader].
func (r *Reader) Members(ctx context.Context, tenant usecase.Tenant, threads []thread.ID, page query.Range) (map[thread.ID]query.Page[query.Member], error) {
	return pagesOf(ctx, r, membersOfThread, tenant, threads, page, func(row memberRow) (thread.ID, item[query.Member], error) {
		value, err := row.member()
		return value.Thread, item[query.Member]{row.Part, value, value.Position()}, err
	})
}

// Messages implements [query.MessageReader].
func (r *Reader) Messages(ctx context.Context, tenant usecase.Tenant, threads []thread.ID, page query.Range) (map[thread.ID]query.Page[query.Message], error) {
	return pagesOf(ctx, r, messagesOfThread, tenant, threads, page, func(row messageRow) (thread.ID, item[query.Message], error) {
		value, err := row.message()
		return value.Thread, item[query.Message]{row.Part, value, value.Position()}, err
	})
}

// pagesOf reads the same page of the lists of several threads: in one statement, as long as that is not more than
// maxSelects.
func pagesOf[R, T any](ctx context.Context, r *Reader, l list, tenant usecase.Tenant, threads []thread.ID, page query.Range,
	read func(R) (thread.ID, item[T], error),
) (map[thread.ID]query.Page[T], error) {
	found := make(map[thread.ID][]item[T], len(threads))
	for some := range slices.Chunk(threads, maxSelects/selects(page)) {
		var s statement
		for _, id := range some {
			l.add(&s, page, tenant.String(), id.String())
		}
		rows, err := run[R](ctx, r, &s)
		if err != nil {
			return nil, err
		}
		for _, row := range rows {
			id, found1, err := read(row)
			if err != nil {
				return nil, err
			}
			found[id] = append(found[id], found1)
		}
	}
	pages := make(map[thread.ID]query.Page[T], len(threads))
	for _, id := range threads {
		pages[id] = assemble(l, page, found[id])
	}
	return pages, nil
}

// item is a row of a list, or of what is beyond its borders.
type item[T any] struct {
	part     part
	value    T
	position query.Position
}

// assemble makes the page of what was found for it.
func assemble[T any](l list, page query.Range, found []item[T]) query.Page[T] {
	var result query.Page[T]
	items := make([]item[T], 0, len(found))
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
	slices.SortFunc(items, func(a, b item[T]) int {
		order := cmp.Or(cmp.Compare(a.position.At, b.position.At), cmp.Compare(a.position.ID, b.position.ID))
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
	result.Items = make([]T, len(items))
	for i, it := range items {
		result.Items[i] = it.value
	}
	return result
}
