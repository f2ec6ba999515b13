// Package queryreader implements the ports of usecase/query with SQL on the tables that the projection writes. The same
// statements run on MySQL, MariaDB and SQLite.
//
// Every statement is restricted to the tenant. A page is found by its position, not by counting rows. The pages of
// several lists are read in one statement that reads no more rows than it returns (pages.go).
package queryreader

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"

	"github.com/jmoiron/sqlx"

	"example.com/threads/domain/account"
	"example.com/threads/domain/ident"
	"example.com/threads/domain/thread"
	"example.com/threads/es"
	"example.com/threads/es/database"
	"example.com/threads/es/rowstore"
	"example.com/threads/es/rowstore/table"
	"example.com/threads/interfaceadaptor/readmodel/chatrows"
	"example.com/threads/usecase/query"
)

// Reader reads the read model. It implements the ports of usecase/query and is safe for concurrent use.
type Reader struct {
	db *sqlx.DB
}

var (
	_ query.Reader        = (*Reader)(nil)
	_ query.VersionReader = (*Reader)(nil)
)

// New returns a reader of the read model in db.
func New(db *sqlx.DB) *Reader { return &Reader{db} }

// isMember restricts a statement on threads t to those with the user account as a member.
const isMember = ` AND EXISTS (SELECT 1 FROM members v
	WHERE v.tenant_code = t.tenant_code AND v.thread_id = t.id AND v.user_account_id = ? AND v.removed = 0)`

// Thread implements [query.Reader].
func (r *Reader) Thread(ctx context.Context, viewer query.Viewer, id thread.ID) (query.Thread, error) {
	return One(ctx, r, chatrows.Threads, thread.ErrThreadNotFound,
		`SELECT `+chatrows.Threads.List("t")+` FROM threads t WHERE t.tenant_code = ? AND t.id = ? AND t.deleted = 0`+isMember,
		viewer.Tenant.String(), id.String(), viewer.User.String())
}

// ThreadByCode implements [query.Reader].
func (r *Reader) ThreadByCode(ctx context.Context, viewer query.Viewer, code thread.Code) (query.Thread, error) {
	return One(ctx, r, chatrows.Threads, thread.ErrThreadNotFound,
		`SELECT `+chatrows.Threads.List("t")+` FROM threads t WHERE t.tenant_code = ? AND t.code = ? AND t.deleted = 0`+isMember,
		viewer.Tenant.String(), code.String(), viewer.User.String())
}

// Member implements [query.Reader].
func (r *Reader) Member(ctx context.Context, key es.AggregateID, user thread.UserID) (query.Member, error) {
	return One(ctx, r, chatrows.Members, thread.ErrMemberNotFound,
		`SELECT `+chatrows.Members.List("m")+` FROM members m
		JOIN threads t ON t.tenant_code = m.tenant_code AND t.id = m.thread_id AND t.deleted = 0
		WHERE m.tenant_code = ? AND m.thread_id = ? AND m.user_account_id = ? AND m.removed = 0`,
		key.Tenant.String(), key.ID, user.String())
}

// Message implements [query.Reader].
func (r *Reader) Message(ctx context.Context, viewer query.Viewer, id thread.MessageID) (query.Message, error) {
	return One(ctx, r, chatrows.Messages, thread.ErrMessageNotFound,
		`SELECT `+chatrows.Messages.List("s")+` FROM messages s
		JOIN threads t ON t.tenant_code = s.tenant_code AND t.id = s.thread_id AND t.deleted = 0
		WHERE s.tenant_code = ? AND s.id = ? AND s.deleted = 0`+isMember,
		viewer.Tenant.String(), id.String(), viewer.User.String())
}

// WasMember implements [query.Reader].
func (r *Reader) WasMember(ctx context.Context, viewer query.Viewer, id thread.ID) error {
	_, err := r.begin(ctx, query.Range{AfterID: id.String()}, thread.ErrThreadNotFound, positionOfThread,
		viewer.Tenant.String(), id.String(), viewer.User.String())
	return err
}

// positionOfThread selects a thread's position in the list of a user, also when it is deleted or the user has left it.
const positionOfThread = `SELECT t.updated_at FROM threads t WHERE t.tenant_code = ? AND t.id = ? AND EXISTS (SELECT 1 FROM members v
	WHERE v.tenant_code = t.tenant_code AND v.thread_id = t.id AND v.user_account_id = ?)`

// errAfter is the error of a page after a row that is not in the list.
var errAfter error = &ident.InvalidError{Field: "after", Reason: "must be the id of a row of this list"}

// begin replaces the id of the row before a page by its position, which a statement selects.
func (r *Reader) begin(ctx context.Context, page query.Range, missing error, statement string, args ...any) (query.Range, error) {
	if page.AfterID == "" {
		return page, nil
	}
	page.After.ID = page.AfterID
	err := r.db.GetContext(ctx, &page.After.At, statement, args...)
	if errors.Is(err, sql.ErrNoRows) {
		return page, missing
	}
	if err != nil {
		return page, r.explain("find where a page of the read model begins", err)
	}
	return page, nil
}

// One reads one row; if there is none it returns the error missing.
func One[R any](ctx context.Context, r *Reader, of table.Table[R], missing error, statement string, args ...any) (found R, err error) {
	exists := false
	if err := of.Query(ctx, r.db, func(row R) { found, exists = row, true }, statement, args...); err != nil {
		return found, r.explain("read the read model", err)
	}
	if !exists {
		return found, missing
	}
	return found, nil
}

// Accounts implements [query.Reader].
func (r *Reader) Accounts(ctx context.Context, tenant es.Tenant, ids []account.ID) (map[account.ID]query.Account, error) {
	found := make(map[account.ID]query.Account, len(ids))
	keys := make([][]string, len(ids))
	for i, id := range ids {
		keys[i] = []string{tenant.String(), id.String()}
	}
	if err := chatrows.Accounts.Load(ctx, r.db, keys, "", func(row query.Account) { found[row.ID] = row }); err != nil {
		return nil, r.explain("read accounts of the read model", err)
	}
	return found, nil
}

// Versions implements [query.VersionReader].
func (r *Reader) Versions(ctx context.Context, keys []es.AggregateID) (map[es.AggregateID]uint64, error) {
	versions, err := rowstore.Versions(ctx, r.db, chatrows.Projection, keys)
	if err != nil {
		return nil, r.explain("read versions of the read model", err)
	}
	return versions, nil
}

// explain adds what failed, and wraps [es.ErrUnavailable] if a retry may succeed: after a conflict, or after a
// statement that the database aborted. The error of an ended context is not changed.
func (r *Reader) explain(doing string, err error) error {
	if database.IsTransient(err) {
		return fmt.Errorf("%s: %w: %w", doing, es.ErrUnavailable, err)
	}
	return fmt.Errorf("%s: %w", doing, err)
}

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
