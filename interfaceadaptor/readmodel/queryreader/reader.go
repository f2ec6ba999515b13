package queryreader

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/jmoiron/sqlx"

	"example.com/threads/domain/account"
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

// Thread implements [query.ThreadReader].
func (r *Reader) Thread(ctx context.Context, viewer query.Viewer, id thread.ID) (query.Thread, error) {
	return One(ctx, r, chatrows.Threads, thread.ErrThreadNotFound,
		`SELECT `+chatrows.Threads.List("t")+` FROM threads t WHERE t.tenant_code = ? AND t.id = ? AND t.deleted = 0`+isMember,
		viewer.Tenant.String(), id.String(), viewer.User.String())
}

// ThreadByCode implements [query.ThreadReader].
func (r *Reader) ThreadByCode(ctx context.Context, viewer query.Viewer, code thread.Code) (query.Thread, error) {
	return One(ctx, r, chatrows.Threads, thread.ErrThreadNotFound,
		`SELECT `+chatrows.Threads.List("t")+` FROM threads t WHERE t.tenant_code = ? AND t.code = ? AND t.deleted = 0`+isMember,
		viewer.Tenant.String(), code.String(), viewer.User.String())
}

// Member implements [query.MemberReader].
func (r *Reader) Member(ctx context.Context, key es.AggregateID, user thread.UserID) (query.Member, error) {
	return One(ctx, r, chatrows.Members, thread.ErrMemberNotFound,
		`SELECT `+chatrows.Members.List("m")+` FROM members m
		JOIN threads t ON t.tenant_code = m.tenant_code AND t.id = m.thread_id AND t.deleted = 0
		WHERE m.tenant_code = ? AND m.thread_id = ? AND m.user_account_id = ? AND m.removed = 0`,
		key.Tenant.String(), key.ID, user.String())
}

// Message implements [query.MessageReader].
func (r *Reader) Message(ctx context.Context, viewer query.Viewer, id thread.MessageID) (query.Message, error) {
	return One(ctx, r, chatrows.Messages, thread.ErrMessageNotFound,
		`SELECT `+chatrows.Messages.List("s")+` FROM messages s
		JOIN threads t ON t.tenant_code = s.tenant_code AND t.id = s.thread_id AND t.deleted = 0
		WHERE s.tenant_code = ? AND s.id = ? AND s.deleted = 0`+isMember,
		viewer.Tenant.String(), id.String(), viewer.User.String())
}

// ThreadPosition implements [query.ThreadReader].
func (r *Reader) ThreadPosition(ctx context.Context, viewer query.Viewer, id thread.ID) (query.Position, error) {
	return r.position(ctx, thread.ErrThreadNotFound, id.String(),
		`SELECT t.updated_at FROM threads t WHERE t.tenant_code = ? AND t.id = ? AND EXISTS (SELECT 1 FROM members v
		WHERE v.tenant_code = t.tenant_code AND v.thread_id = t.id AND v.user_account_id = ?)`,
		viewer.Tenant.String(), id.String(), viewer.User.String())
}

// MemberPosition implements [query.MemberReader].
func (r *Reader) MemberPosition(ctx context.Context, key es.AggregateID, id thread.MemberID) (query.Position, error) {
	return r.position(ctx, thread.ErrMemberNotFound, id.String(),
		`SELECT joined_seq FROM members WHERE tenant_code = ? AND id = ? AND thread_id = ?`,
		key.Tenant.String(), id.String(), key.ID)
}

// MessagePosition implements [query.MessageReader].
func (r *Reader) MessagePosition(ctx context.Context, key es.AggregateID, id thread.MessageID) (query.Position, error) {
	return r.position(ctx, thread.ErrMessageNotFound, id.String(),
		`SELECT seq_nr FROM messages WHERE tenant_code = ? AND id = ? AND thread_id = ?`,
		key.Tenant.String(), id.String(), key.ID)
}

func (r *Reader) position(ctx context.Context, missing error, id, statement string, args ...any) (query.Position, error) {
	at := query.Position{ID: id}
	err := r.db.GetContext(ctx, &at.At, statement, args...)
	if errors.Is(err, sql.ErrNoRows) {
		return query.Position{}, missing
	}
	if err != nil {
		return query.Position{}, r.explain("read the read model", err)
	}
	return at, nil
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

// Accounts implements [query.AccountReader].
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
