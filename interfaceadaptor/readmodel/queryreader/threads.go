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
	"example.com/threads/es/rowstore/table"
	"example.com/threads/interfaceadaptor/readmodel/chatrows"
	"example.com/threads/usecase/query"
)

// The tables of the lists, without columns that have the same value in all rows or that no API shows.
var (
	threads  = chatrows.Threads.Without("tenant_code", "deleted", "created_ip", "updated_ip", "request_id", "source")
	members  = chatrows.Members.Without("tenant_code", "removed", "created_ip", "updated_ip", "request_id", "source")
	messages = chatrows.Messages.Without("tenant_code", "deleted", "created_ip", "updated_ip", "request_id", "source")
)

// The lists of the read model.
var (
	membersOfThread = List{
		Columns: members.List("members"),
		From:    `FROM members WHERE tenant_code = ? AND thread_id = ? AND removed = 0`,
		At:      "joined_seq",
	}
	messagesOfThread = List{
		Columns: messages.List("messages"),
		From:    `FROM messages WHERE tenant_code = ? AND thread_id = ? AND deleted = 0`,
		At:      "seq_nr",
	}
)

// isMember restricts a statement on threads t to those with the user account as a member.
const isMember = ` AND EXISTS (SELECT 1 FROM members v
	WHERE v.tenant_code = t.tenant_code AND v.thread_id = t.id AND v.user_account_id = ? AND v.removed = 0)`

func (r *Reader) Thread(ctx context.Context, viewer query.Viewer, id thread.ID) (query.Thread, error) {
	return One(ctx, r, chatrows.Threads, thread.ErrThreadNotFound,
		`SELECT `+chatrows.Threads.List("t")+` FROM threads t WHERE t.tenant_code = ? AND t.id = ? AND t.deleted = 0`+isMember,
		viewer.Tenant.String(), id.String(), viewer.User.String())
}

func (r *Reader) ThreadByCode(ctx context.Context, viewer query.Viewer, code thread.Code) (query.Thread, error) {
	return One(ctx, r, chatrows.Threads, thread.ErrThreadNotFound,
		`SELECT `+chatrows.Threads.List("t")+` FROM threads t WHERE t.tenant_code = ? AND t.code = ? AND t.deleted = 0`+isMember,
		viewer.Tenant.String(), code.String(), viewer.User.String())
}

func (r *Reader) Member(ctx context.Context, tenant es.Tenant, id thread.ID, user thread.UserID) (query.Member, error) {
	return One(ctx, r, chatrows.Members, thread.ErrMemberNotFound,
		`SELECT `+chatrows.Members.List("m")+` FROM members m
		JOIN threads t ON t.tenant_code = m.tenant_code AND t.id = m.thread_id AND t.deleted = 0
		WHERE m.tenant_code = ? AND m.thread_id = ? AND m.user_account_id = ? AND m.removed = 0`,
		tenant.String(), id.String(), user.String())
}

func (r *Reader) Message(ctx context.Context, viewer query.Viewer, id thread.MessageID) (query.Message, error) {
	return One(ctx, r, chatrows.Messages, thread.ErrMessageNotFound,
		`SELECT `+chatrows.Messages.List("s")+` FROM messages s
		JOIN threads t ON t.tenant_code = s.tenant_code AND t.id = s.thread_id AND t.deleted = 0
		WHERE s.tenant_code = ? AND s.id = ? AND s.deleted = 0`+isMember,
		viewer.Tenant.String(), id.String(), viewer.User.String())
}

func (r *Reader) WasMember(ctx context.Context, viewer query.Viewer, id thread.ID) error {
	_, err := r.begin(ctx, query.Range{AfterID: id.String()}, thread.ErrThreadNotFound, positionOfThread,
		viewer.Tenant.String(), id.String(), viewer.User.String())
	return err
}

// positionOfThread selects a thread's position in the list of a user, also when it is deleted or the user has left it.
const positionOfThread = `SELECT t.updated_at FROM threads t WHERE t.tenant_code = ? AND t.id = ? AND EXISTS (SELECT 1 FROM members v
	WHERE v.tenant_code = t.tenant_code AND v.thread_id = t.id AND v.user_account_id = ?)`

// The order of a viewer's threads is in the threads table, and the viewer is in the members table. An index with both
// would have to be written for every member with every message. So there are two ways to read a page: sort all of the
// viewer's threads, or read the tenant's threads in order and take the viewer's. The first costs as much as the viewer
// has threads. The second costs about n * page / m rows, for m threads of the tenant's n: few, if the viewer has many.
// The worst case is a viewer whose threads changed before all others': 28 ms on SQLite for 20,000 of 60,000, 0.2 s on
// MariaDB.
const (
	fewThreads = 2000 // threads of a viewer that can be sorted in a few milliseconds
	walked     = 2000 // the maximum number of the tenant's threads to read
)

// The ways to find them. The LIMIT in the subquery, CROSS JOIN and sorting by a sum make databases use certain indexes.
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

func (r *Reader) Threads(ctx context.Context, viewer query.Viewer, page query.Range) (query.Page[query.Thread], error) {
	page, err := r.begin(ctx, page, errAfter, positionOfThread, viewer.Tenant.String(), page.AfterID, viewer.User.String())
	if err != nil {
		return query.Page[query.Thread]{}, err
	}
	found, whole, err := r.few(ctx, viewer, page)
	if err == nil && !whole {
		found, whole, err = r.walk(ctx, viewer, page)
	}
	if err == nil && !whole {
		return Page(ctx, r, threads, threadsOfViewer, page, viewer.Tenant.String(), viewer.User.String())
	}
	return pageOf(threadsOfViewer, found, page), err
}

// few reads the page of a viewer with fewer than fewThreads. whole: there are not more.
func (r *Reader) few(ctx context.Context, viewer query.Viewer, page query.Range) (found []query.Thread, whole bool, err error) {
	var s unionStatement
	tenant, user := viewer.Tenant.String(), viewer.User.String()
	threadsOfFew.add(&s, page, 0, tenant, user, tenant, user, tenant)
	s.add(fmt.Sprintf(`%s FROM %s CROSS JOIN threads t WHERE few.n = %d AND t.tenant_code = ? LIMIT 1`, threadsOfTenant.Columns, counted, fewThreads),
		tenant, user, tenant)
	rows, err := run(ctx, r, &s, threads, 0)
	return rows[0], len(rows[1]) == 0, err
}

// walk searches the tenant's threads for the page's, from its start. whole: the page is complete at the maximum.
func (r *Reader) walk(ctx context.Context, viewer query.Viewer, page query.Range) (found []query.Thread, whole bool, err error) {
	tenant, wanted := viewer.Tenant.String(), page.Limit+1
	end := page
	end.Limit = 0
	last, err := read(ctx, r, threads, threadsOfTenant, end, walked, tenant)
	if err != nil {
		return nil, false, err
	}
	if len(last) > 0 && page.Backward {
		page.After = last[0].Position()
	} else if len(last) > 0 {
		page.Before = last[0].Position()
	}
	found, err = read(ctx, r, threads, threadsWalked(r), page, 0, tenant, viewer.User.String())
	return found, len(last) == 0 || len(found) == wanted, err
}

func (r *Reader) Members(ctx context.Context, tenant es.Tenant, of []thread.ID, page query.Range) (map[thread.ID]query.Page[query.Member], error) {
	return pagesOf(ctx, r, membersOfThread, members, tenant, of, page)
}

func (r *Reader) Messages(ctx context.Context, tenant es.Tenant, of []thread.ID, page query.Range) (map[thread.ID]query.Page[query.Message], error) {
	return pagesOf(ctx, r, messagesOfThread, messages, tenant, of, page)
}

// pagesOf reads the same page of the lists of several threads, in one statement unless that exceeds maxSelects.
func pagesOf[R query.Positioned](
	ctx context.Context, r *Reader, l List, of table.Table[R], tenant es.Tenant, threads []thread.ID, page query.Range,
) (map[thread.ID]query.Page[R], error) {
	if len(threads) == 0 {
		return nil, nil
	}
	after := fmt.Sprintf("SELECT %s FROM %s WHERE tenant_code = ? AND id = ? AND thread_id = ?", l.At, of.Name)
	page, err := r.begin(ctx, page, errAfter, after, tenant.String(), page.AfterID, threads[0].String())
	if err != nil {
		return nil, err
	}
	pages := make(map[thread.ID]query.Page[R], len(threads))
	for some := range slices.Chunk(threads, maxSelects) {
		var s unionStatement
		for _, id := range some {
			l.add(&s, page, 0, tenant.String(), id.String())
		}
		found, err := run(ctx, r, &s, of, page.Limit/len(threads)+1)
		if err != nil {
			return nil, err
		}
		for i, id := range some {
			pages[id] = pageOf(l, found[i], page)
		}
	}
	return pages, nil
}

const maxSelects = 100 // maximum number of SELECTs in one SQLite statement with UNION ALL (see es/database)

var errAfter error = &ident.InvalidError{Field: "after", Reason: "must be the id of a row of this list"}

// begin replaces the id of the row before a page by its position, which a statement selects.
func (r *Reader) begin(ctx context.Context, page query.Range, missing error, statement string, args ...any) (query.Range, error) {
	if page.AfterID == "" {
		return page, nil
	}
	page.After.ID = page.AfterID
	err := r.on(ctx, func(ctx context.Context, db *sqlx.DB) error {
		return db.GetContext(ctx, &page.After.At, statement, args...)
	})
	if errors.Is(err, sql.ErrNoRows) {
		return page, missing
	}
	return page, database.Explain("find where a page of the read model begins", err)
}

func (r *Reader) Accounts(ctx context.Context, tenant es.Tenant, ids []account.ID) (map[account.ID]query.Account, error) {
	found := make(map[account.ID]query.Account, len(ids))
	var keys [][]string
	asked := make(map[account.ID]bool)
	for _, id := range ids { // the same few have written most messages
		if !asked[id] {
			keys = append(keys, []string{tenant.String(), id.String()})
		}
		asked[id] = true
	}
	err := r.on(ctx, func(ctx context.Context, db *sqlx.DB) error {
		clear(found)
		where, args := table.Where(chatrows.Accounts.Columns[:2], keys) // one statement for any number
		return chatrows.Accounts.Select(ctx, db, func(row query.Account) { found[row.ID] = row }, "WHERE "+where, args...)
	})
	return found, database.Explain("read accounts of the read model", err)
}
