package queryreader

import (
	"context"
	"fmt"
	"slices"

	"example.com/threads/usecase/query"
)

// The order of a viewer's threads is in the threads table, and the viewer is in the members table. An index with both
// would have to be written for every member with every message. So there are two ways to read a page: sort all of the
// viewer's threads, or read the tenant's threads in order and take the viewer's. The first costs as much as the viewer
// has threads. The second is cheap if the viewer has many of the tenant's threads. ADR 0020 has figures.
const (
	fewThreads = 2000 // threads of a viewer that can be sorted in a few milliseconds
	walked     = 2000 // the maximum number of the tenant's threads to read
)

// The two ways to find the viewer's threads. The LIMIT in the subquery, the CROSS JOINs and sorting by a sum force the
// databases to use the intended indexes.
var (
	threadsOfTenant = threadsBy("t.updated_at", `FROM threads t WHERE t.tenant_code = ? AND t.deleted = 0`)
	threadsOfViewer = threadsBy("t.updated_at + 0", `FROM members v CROSS JOIN threads t
		ON t.tenant_code = v.tenant_code AND t.id = v.thread_id AND t.deleted = 0 WHERE v.tenant_code = ? AND v.user_account_id = ? AND v.removed = 0`)
	threadsOfFew = threadsBy("t.updated_at + 0", fmt.Sprintf(`FROM %s
		CROSS JOIN (SELECT thread_id FROM members WHERE tenant_code = ? AND user_account_id = ? AND removed = 0 LIMIT %[2]d) AS v
		CROSS JOIN threads t ON t.tenant_code = ? AND t.id = v.thread_id AND t.deleted = 0 WHERE few.n < %[2]d`, counted, fewThreads))
)

// threadsWalked reads the tenant's threads in order. Without statistics of a new table, MySQL would search each
// membership among all of the tenant; SQLite chooses the index by itself.
func threadsWalked(r *Reader) List {
	hint := ""
	if r.db.DriverName() == "mysql" {
		hint = "FORCE INDEX (members_of_user)"
	}
	return threadsBy("t.updated_at", threadsOfTenant.From+` AND (SELECT v.id FROM members v `+hint+`
		WHERE v.tenant_code = t.tenant_code AND v.thread_id = t.id AND v.user_account_id = ? AND v.removed = 0 LIMIT 1) IS NOT NULL`)
}

// counted contains the number of the viewer's threads, at most fewThreads.
var counted = fmt.Sprintf(`(SELECT COUNT(*) AS n FROM
	(SELECT 1 FROM members WHERE tenant_code = ? AND user_account_id = ? AND removed = 0 LIMIT %d) AS m) AS few`, fewThreads)

func threadsBy(at, from string) List {
	return List{Columns: threads.List("t"), From: from, At: at, ID: "t.id", Descending: true}
}

// Threads implements [query.Reader].
func (r *Reader) Threads(ctx context.Context, viewer query.Viewer, page query.Range) (query.Page[query.Thread], error) {
	page, err := r.begin(ctx, page, errAfter, positionOfThread, viewer.Tenant.String(), page.AfterID, viewer.User.String())
	if err != nil {
		return query.Page[query.Thread]{}, err
	}
	found, err := r.few(ctx, viewer, page)
	whole := len(found[partMany]) == 0
	if err == nil && !whole {
		found, whole, err = r.walk(ctx, viewer, page)
	}
	if err == nil && !whole {
		return Page(ctx, r, threads, threadsOfViewer, page, viewer.Tenant.String(), viewer.User.String())
	}
	return found.page(threadsOfViewer, page), err
}

// few reads the page of a viewer with fewer than fewThreads, or finds that there are more.
func (r *Reader) few(ctx context.Context, viewer query.Viewer, page query.Range) (foundPage[query.Thread], error) {
	var s unionStatement
	tenant, user := viewer.Tenant.String(), viewer.User.String()
	threadsOfFew.add(&s, page, tenant, user, tenant, user, tenant)
	s.begin(partMany, fmt.Sprintf(`%s FROM %s CROSS JOIN threads t WHERE few.n = %d AND t.tenant_code = ?`, threadsOfTenant.Columns, counted, fewThreads),
		tenant, user, tenant)
	s.end(" LIMIT 1")
	found := foundPage[query.Thread]{}
	return found, run(ctx, r, &s, threads, found.take)
}

// walk searches the tenant's threads for the page's, from the start of the page. whole is false if the page is not
// complete at the maximum.
func (r *Reader) walk(ctx context.Context, viewer query.Viewer, page query.Range) (found foundPage[query.Thread], whole bool, err error) {
	parts, tenant := partsOf(page), viewer.Tenant.String()
	var s unionStatement
	for _, p := range parts {
		p.limit, p.offset = 1, walked
		threadsOfTenant.addPart(&s, p, tenant)
	}
	found, ends := foundPage[query.Thread]{}, foundPage[query.Thread]{} // ends of the searches
	if err = run(ctx, r, &s, threads, ends.take); err != nil {
		return found, false, err
	}
	s = unionStatement{}
	for _, p := range parts {
		if end := ends[p.part]; len(end) > 0 {
			p.bounds = append(p.bounds, bound{beyond: p.backward, orAt: true, of: end[0].Position()})
		}
		threadsWalked(r).addPart(&s, p, tenant, viewer.User.String())
	}
	err = run(ctx, r, &s, threads, found.take)
	whole = !slices.ContainsFunc(parts, func(p selection) bool { return len(ends[p.part]) > 0 && len(found[p.part]) < p.limit })
	return found, whole, err
}
