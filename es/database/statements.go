package database

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"
)

// Limits of a connection's statement cache. Longer statements write hundreds of rows: they are rare, need much memory
// when prepared, and take longer to run than to prepare. Statements that read the lists of a page have some KiB and
// take longer to prepare than to run.
const (
	keptStatements = 256
	keptText       = 16 << 10 // bytes of one statement
	keptTexts      = 1 << 20  // bytes of all statements
)

// preparing opens SQLite connections that cache prepared statements: on SQLite, preparing a statement often takes
// longer than running it.
type preparing struct{ driver.Connector }

func (p preparing) Connect(ctx context.Context) (driver.Conn, error) {
	opened, err := p.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	conn, able := opened.(sqliteConn)
	if !able {
		return nil, errors.Join(fmt.Errorf("a connection of type %T lacks methods that are needed here", opened), opened.Close())
	}
	c := &connection{sqliteConn: conn}
	c.kept, err = simplelru.NewLRU(keptStatements, func(query string, s *statement) {
		c.size -= len(query)
		s.evict()
	})
	if err == nil {
		err = c.readTimeout(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, opened.Close())
	}
	return c, nil
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

// connection caches the most recently used statements. Like every connection, it is used by one goroutine at a time.
type connection struct {
	sqliteConn
	kept *simplelru.LRU[string, *statement]
	size int // bytes of the texts

	patience     time.Duration // busy_timeout
	resetTimeout string        // the statement that sets it
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

// statement returns the cached statement for the text. It prepares a new one if rows are still read from the cached
// one, or if the text is too long.
func (c *connection) statement(ctx context.Context, query string) (*statement, error) {
	known, found := c.kept.Get(query)
	if found && !known.reading {
		return known, nil
	}
	made, err := c.PrepareContext(ctx, query)
	if err != nil {
		return nil, err
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
	return c.sqliteConn.Close()
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
}

// Close implements [driver.Rows].
func (r *rows) Close() error {
	defer r.from.done()
	return r.Rows.Close()
}
