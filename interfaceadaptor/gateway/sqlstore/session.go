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

func (p *prepared) statement(ctx context.Context, query string) (*sqlx.Stmt, error) {
	if known, found := p.statements[query]; found {
		return known, nil
	}
	statement, err := p.conn.PreparexContext(ctx, query)
	if err != nil {
		return nil, err
	}
	p.statements[query] = statement
	return statement, nil
}

func (p *prepared) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	statement, err := p.statement(ctx, query)
	if err != nil {
		return nil, err
	}
	return statement.ExecContext(ctx, args...)
}

func (p *prepared) GetContext(ctx context.Context, dest any, query string, args ...any) error {
	statement, err := p.statement(ctx, query)
	if err != nil {
		return err
	}
	return statement.GetContext(ctx, dest, args...)
}

func (p *prepared) SelectContext(ctx context.Context, dest any, query string, args ...any) error {
	statement, err := p.statement(ctx, query)
	if err != nil {
		return err
	}
	return statement.SelectContext(ctx, dest, args...)
}

// changed runs a statement and tells how many rows it met.
func changed(ctx context.Context, in session, query string, args ...any) (int64, error) {
	result, err := in.ExecContext(ctx, query, args...)
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}
