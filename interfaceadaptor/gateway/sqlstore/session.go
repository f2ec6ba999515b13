package sqlstore

import (
	"context"
	"database/sql"
)

// session is where statements run: a transaction, or the pool. [sqlx.DB], [sqlx.Tx] and [sqlx.Conn] have it.
type session interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
	GetContext(ctx context.Context, dest any, query string, args ...any) error
	SelectContext(ctx context.Context, dest any, query string, args ...any) error
}

// changed runs a statement and tells how many rows it met.
func changed(ctx context.Context, in session, query string, args ...any) (int64, error) {
	result, err := in.ExecContext(ctx, query, args...)
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}
