package database

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"

	"github.com/hashicorp/golang-lru/v2/simplelru"
	"github.com/ncruces/go-sqlite3"
	sqlite "github.com/ncruces/go-sqlite3/driver"
)

// Limits of a connection's statement cache. Longer statements write hundreds of rows: they are rare, need much memory
// when prepared, and take longer to run than to prepare. Statements that read the lists of a page have some KiB and
// take longer to prepare than to run.
const (
	keptStatements = 256
	keptText       = 16 << 10 // bytes of one statement
	keptTexts      = 1 << 20  // bytes of all statements
)

// maxSelects is how many SELECTs a statement may join with UNION ALL. The driver's stack of 64 KiB would overflow at
// about twice as many, in the place of an error.
const maxSelects = 100

// preparing opens SQLite connections that cache prepared statements: on SQLite, preparing a statement often takes
// longer than running it.
type preparing struct{ driver.Connector }

func (p preparing) Connect(ctx context.Context) (driver.Conn, error) {
	opened, err := p.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	c := &connection{Conn: opened.(sqlite.Conn)}
	c.Raw().Limit(sqlite3.LIMIT_COMPOUND_SELECT, maxSelects)
	c.kept, err = simplelru.NewLRU(keptStatements, func(query string, s *statement) {
		c.size -= len(query)
		s.evict()
	})
	if err != nil {
		return nil, errors.Join(err, opened.Close())
	}
	return c, nil
}

// sqliteStmt is a statement of the driver.
type sqliteStmt interface {
	driver.Stmt
	driver.StmtExecContext
	driver.StmtQueryContext
}

// connection caches the most recently used statements. Like every connection, it is used by one goroutine at a time.
type connection struct {
	sqlite.Conn
	kept *simplelru.LRU[string, *statement]
	size int // bytes of the texts
}

// ExecContext implements [driver.ExecerContext].
func (c *connection) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	s, err := c.statement(ctx, query, len(args))
	if err != nil {
		return nil, err
	}
	defer s.done()
	result, err := s.ExecContext(ctx, args)
	return result, orEnd(ctx, err)
}

// QueryContext implements [driver.QueryerContext].
func (c *connection) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	s, err := c.statement(ctx, query, len(args))
	if err != nil {
		return nil, err
	}
	found, err := s.QueryContext(ctx, args)
	if err != nil {
		s.done()
		return nil, err
	}
	s.reading = true
	return &rows{found, s, ctx}, nil
}

// BeginTx implements [driver.ConnBeginTx].
func (c *connection) BeginTx(ctx context.Context, options driver.TxOptions) (driver.Tx, error) {
	tx, err := c.Conn.BeginTx(ctx, options)
	return tx, orEnd(ctx, err)
}

// orEnd returns the end of ctx in place of an error that it led to: the driver reports an interrupt or a lock.
func orEnd(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

// statement returns the cached statement for the text. It prepares a new one if rows are still read from the cached
// one, or if the text is too long. The driver would take a missing argument for NULL.
func (c *connection) statement(ctx context.Context, query string, args int) (*statement, error) {
	known, found := c.kept.Get(query)
	if found && !known.reading && known.NumInput() == args {
		return known, nil
	}
	made, err := c.PrepareContext(ctx, query)
	if err != nil {
		return nil, orEnd(ctx, err)
	}
	if wanted := made.NumInput(); wanted >= 0 && wanted != args {
		return nil, errors.Join(fmt.Errorf("the statement has %d parameters, and %d arguments are given", wanted, args), made.Close())
	}
	s := &statement{sqliteStmt: made.(sqliteStmt), evicted: found || len(query) > keptText}
	if !s.evicted {
		c.kept.Add(query, s)
		for c.size += len(query); c.size > keptTexts; {
			c.kept.RemoveOldest()
		}
	}
	return s, nil
}

// Close implements [driver.Conn].
func (c *connection) Close() error {
	c.kept.Purge()
	return c.Conn.Close()
}

// statement is a prepared statement. It has one cursor: while rows are read from it, it cannot be used again.
type statement struct {
	sqliteStmt
	reading bool
	evicted bool // no longer in the cache
}

// done is called after each use.
func (s *statement) done() {
	s.reading = false
	if s.evicted {
		_ = s.Close() // an error changes nothing
	}
}

// evict is called when the statement leaves the cache, possibly while rows are read from it.
func (s *statement) evict() {
	s.evicted = true
	if !s.reading {
		s.done()
	}
}

// rows release their statement when they are closed.
type rows struct {
	driver.Rows
	from *statement
	ctx  context.Context //nolint:containedctx // of the query
}

// Next implements [driver.Rows].
func (r *rows) Next(values []driver.Value) error {
	err := r.Rows.Next(values)
	if err == io.EOF { //nolint:errorlint // as database/sql compares it
		return err
	}
	return orEnd(r.ctx, err)
}

// Close implements [driver.Rows].
func (r *rows) Close() error {
	defer r.from.done()
	return r.Rows.Close()
}
