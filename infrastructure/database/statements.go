package database

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"

	"github.com/hashicorp/golang-lru/v2/simplelru"
)

// The bounds on what a connection remembers. A longer text is that of a statement for hundreds of rows: it is rare, large
// when it is prepared, and takes longer to run than to prepare.
const (
	keptStatements = 256
	keptText       = 4 << 10 // bytes
)

// preparing opens SQLite connections that prepare a statement once and keep it for the next time that its text comes:
// preparing takes SQLite longer than running most statements does, and there is no server to do it elsewhere.
type preparing struct{ driver.Connector }

func (p preparing) Connect(ctx context.Context) (driver.Conn, error) {
	opened, err := p.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	conn, able := opened.(sqliteConn)
	if !able {
		return nil, errors.Join(fmt.Errorf("a connection of type %T does not do what is needed here", opened), opened.Close())
	}
	kept, err := simplelru.NewLRU(keptStatements, func(_ string, s *statement) { s.letGo() })
	return &connection{sqliteConn: conn, kept: kept}, err
}

// sqliteConn is a connection of the driver.
type sqliteConn interface {
	driver.Conn
	driver.ConnPrepareContext
	driver.ConnBeginTx
	driver.Pinger
	driver.SessionResetter
	driver.Validator
}

// sqliteStmt is a statement of the driver.
type sqliteStmt interface {
	driver.Stmt
	driver.StmtExecContext
	driver.StmtQueryContext
}

// connection keeps the statements that were used last. As every connection, it is used by one goroutine at a time.
type connection struct {
	sqliteConn
	kept *simplelru.LRU[string, *statement]
}

// ExecContext implements [driver.ExecerContext].
func (c *connection) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	s, err := c.statement(ctx, query)
	if err != nil {
		return nil, err
	}
	defer s.done()
	return s.ExecContext(ctx, args)
}

// QueryContext implements [driver.QueryerContext].
func (c *connection) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	s, err := c.statement(ctx, query)
	if err != nil {
		return nil, err
	}
	found, err := s.QueryContext(ctx, args)
	if err != nil {
		s.done()
		return nil, err
	}
	s.reading = true
	return &rows{found, s}, nil
}

// statement is the kept one with this text, or another one while rows are read from that, or where the text is too long.
func (c *connection) statement(ctx context.Context, query string) (*statement, error) {
	known, found := c.kept.Get(query)
	if found && !known.reading {
		return known, nil
	}
	made, err := c.PrepareContext(ctx, query)
	if err != nil {
		return nil, err
	}
	s := &statement{sqliteStmt: made.(sqliteStmt), unkept: found || len(query) > keptText}
	if !s.unkept {
		c.kept.Add(query, s)
	}
	return s, nil
}

// Close implements [driver.Conn].
func (c *connection) Close() error {
	c.kept.Purge()
	return c.sqliteConn.Close()
}

// statement is one that has been prepared. There is one cursor in it: while rows are read from it, nobody else can use it.
type statement struct {
	sqliteStmt
	reading bool
	unkept  bool // nobody will use it again
}

// done is called after each use.
func (s *statement) done() {
	s.reading = false
	if s.unkept {
		_ = s.Close() // nothing is lost with it
	}
}

// letGo is called when it is kept no more, which may be while rows are read from it.
func (s *statement) letGo() {
	s.unkept = true
	if !s.reading {
		s.done()
	}
}

// rows give their statement back when they are closed.
type rows struct {
	driver.Rows
	from *statement
}

// Close implements [driver.Rows].
func (r *rows) Close() error {
	defer r.from.done()
	return r.Rows.Close()
}
