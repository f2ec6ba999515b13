package sqlstore

import (
	"context"
	"database/sql"

	"github.com/jmoiron/sqlx"
)

// session is where statements run: a transaction, or the pool. [sqlx.DB], [sqlx.Tx] and prepared have it.
type session interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
	GetContext(ctx context.Context, dest any, query string, args ...any) error
	SelectContext(ctx context.Context, dest any, query string, args ...any) error
}

// prepared is a connection that prepares every statement once. The statements end with the connection.
type prepared struct {
	conn       *sqlx.Conn
	statements map[string]*sqlx.Stmt
}

// with has a statement used that is prepared when it is first needed.
func (p *prepared) with(ctx context.Context, query string, use func(*sqlx.Stmt) error) error {
	statement, known := p.statements[query]
	if !known {
		var err error
		if statement, err = p.conn.PreparexContext(ctx, query); err != nil {
			return err
		}
		p.statements[query] = statement
	}
	return use(statement)
}

func (p *prepared) ExecContext(ctx context.Context, query string, args ...any) (result sql.Result, err error) {
	err = p.with(ctx, query, func(statement *sqlx.Stmt) (err error) {
		result, err = statement.ExecContext(ctx, args...)
		return err
	})
	return result, err
}

func (p *prepared) GetContext(ctx context.Context, dest any, query string, args ...any) error {
	return p.with(ctx, query, func(statement *sqlx.Stmt) error { return statement.GetContext(ctx, dest, args...) })
}

func (p *prepared) SelectContext(ctx context.Context, dest any, query string, args ...any) error {
	return p.with(ctx, query, func(statement *sqlx.Stmt) error { return statement.SelectContext(ctx, dest, args...) })
}

// changed runs a statement and tells how many rows it met.
func changed(ctx context.Context, in session, query string, args ...any) (int64, error) {
	result, err := in.ExecContext(ctx, query, args...)
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}
