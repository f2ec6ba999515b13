package queryreader

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/jmoiron/sqlx"

	"example.com/threads/domain/thread"
	"example.com/threads/interfaceadaptor/sqldialect"
	"example.com/threads/usecase"
	"example.com/threads/usecase/query"
)

// Reader reads the read model. It implements the ports of usecase/query and is safe for concurrent use.
type Reader struct {
	db      *sqlx.DB
	dialect sqldialect.Dialect
}

var (
	_ query.ThreadReader  = (*Reader)(nil)
	_ query.MemberReader  = (*Reader)(nil)
	_ query.MessageReader = (*Reader)(nil)
	_ query.VersionReader = (*Reader)(nil)
)

// New returns a reader of the read model in db.
func New(db *sqlx.DB) (*Reader, error) {
	dialect, err := sqldialect.Of(db)
	if err != nil {
		return nil, err
	}
	return &Reader{db: db, dialect: dialect}, nil
}

// isMember restricts a statement on threads t to those that a user account is a member of.
const isMember = ` AND EXISTS (SELECT 1 FROM members v
	WHERE v.tenant_code = t.tenant_code AND v.thread_id = t.id AND v.user_account_id = ? AND v.removed = 0)`

// Thread implements [query.ThreadReader].
func (r *Reader) Thread(ctx context.Context, viewer query.Viewer, id thread.ID) (query.Thread, error) {
	row, err := one[threadRow](ctx, r, thread.ErrThreadNotFound,
		`SELECT `+threadColumns+` FROM threads t WHERE t.tenant_code = ? AND t.id = ? AND t.deleted = 0`+isMember,
		viewer.Tenant.String(), id.String(), viewer.User.String())
	if err != nil {
		return query.Thread{}, err
	}
	return row.thread()
}

// Member implements [query.MemberReader].
func (r *Reader) Member(ctx context.Context, key usecase.Key, user thread.UserID) (query.Member, error) {
	row, err := one[memberRow](ctx, r, thread.ErrMemberNotFound,
		`SELECT `+memberColumns+` FROM members m
		JOIN threads t ON t.tenant_code = m.tenant_code AND t.id = m.thread_id AND t.deleted = 0
		WHERE m.tenant_code = ? AND m.thread_id = ? AND m.user_account_id = ? AND m.removed = 0`,
		key.Tenant.String(), key.ID, user.String())
	if err != nil {
		return query.Member{}, err
	}
	return row.member()
}

// Message implements [query.MessageReader].
func (r *Reader) Message(ctx context.Context, viewer query.Viewer, id thread.MessageID) (query.Message, error) {
	row, err := one[messageRow](ctx, r, thread.ErrMessageNotFound,
		`SELECT `+messageColumns+` FROM messages s
		JOIN threads t ON t.tenant_code = s.tenant_code AND t.id = s.thread_id AND t.deleted = 0
		WHERE s.tenant_code = ? AND s.id = ? AND s.deleted = 0`+isMember,
		viewer.Tenant.String(), id.String(), viewer.User.String())
	if err != nil {
		return query.Message{}, err
	}
	return row.message()
}

// ThreadPosition implements [query.ThreadReader].
func (r *Reader) ThreadPosition(ctx context.Context, viewer query.Viewer, id thread.ID) (query.Position, error) {
	return r.position(ctx, thread.ErrThreadNotFound, id.String(),
		`SELECT t.updated_at FROM threads t WHERE t.tenant_code = ? AND t.id = ? AND EXISTS (SELECT 1 FROM members v
		WHERE v.tenant_code = t.tenant_code AND v.thread_id = t.id AND v.user_account_id = ?)`,
		viewer.Tenant.String(), id.String(), viewer.User.String())
}

// MemberPosition implements [query.MemberReader].
func (r *Reader) MemberPosition(ctx context.Context, key usecase.Key, id thread.MemberID) (query.Position, error) {
	return r.position(ctx, thread.ErrMemberNotFound, id.String(),
		`SELECT joined_seq FROM members WHERE tenant_code = ? AND id = ? AND thread_id = ?`,
		key.Tenant.String(), id.String(), key.ID)
}

// MessagePosition implements [query.MessageReader].
func (r *Reader) MessagePosition(ctx context.Context, key usecase.Key, id thread.MessageID) (query.Position, error) {
	return r.position(ctx, thread.ErrMessageNotFound, id.String(),
		`SELECT seq_nr FROM messages WHERE tenant_code = ? AND id = ? AND thread_id = ?`,
		key.Tenant.String(), id.String(), key.ID)
}

func (r *Reader) position(ctx context.Context, missing error, id, statement string, args ...any) (query.Position, error) {
	at, err := one[int64](ctx, r, missing, statement, args...)
	if err != nil {
		return query.Position{}, err
	}
	return query.Position{At: at, ID: id}, nil
}

// one reads one row; without a row the error is missing.
func one[R any](ctx context.Context, r *Reader, missing error, statement string, args ...any) (R, error) {
	var row R
	err := r.db.GetContext(ctx, &row, statement, args...)
	if errors.Is(err, sql.ErrNoRows) {
		return row, missing
	}
	if err != nil {
		return row, r.explain("read the read model", err)
	}
	return row, nil
}

// explain says what was being done when err came, and that the read model is unavailable where asking again may help:
// there was something in the way, or the database broke a statement off by itself. The end of a context stays what it is.
func (r *Reader) explain(doing string, err error) error {
	ended := errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
	switch class := r.dialect.Classify(err); {
	case class == sqldialect.Transient, class == sqldialect.Ended && !ended:
		return fmt.Errorf("%s: %w: %w", doing, usecase.ErrUnavailable, err)
	default:
		return fmt.Errorf("%s: %w", doing, err)
	}
}
