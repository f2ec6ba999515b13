package database

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"

	"github.com/hashicorp/golang-lru/v2/simplelru"
	"github.com/ncruces/go-sqlite3"
	sqlite "github.com/ncruces/go-sqlite3/driver"
)

// Limits of a connection's statement cache. Longer statements write hundreds of rows: preparing them pays little.
const (
	keptStatements = 256
	keptText       = 16 << 10 // bytes of one statement
	keptTexts      = 1 << 20  // bytes of all statements
)

// maxSelects is how many SELECTs UNION ALL may join. The driver's stack of 64 KiB would overflow at twice as many.
const maxSelects = 100

// preparing opens SQLite connections that cache statements: preparing one often takes longer than running it.
type preparing struct{ driver.Connector }

func (p preparing) Connect(ctx context.Context) (driver.Conn, error) {
	opened, err := p.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	c := &connection{Conn: opened.(sqlite.Conn)}
	c.Raw().Limit(sqlite3.LIMIT_COMPOUND_SELECT, maxSelects)
	// Or else SQLite prepares a statement again for each value that a plan may depend on, such as that of LIMIT.
	if _, err := c.Raw().Config(sqlite3.DBCONFIG_ENABLE_QPSG, true); err != nil {
		return nil, errors.Join(err, opened.Close())
	}
	c.kept, _ = simplelru.NewLRU[string, statement](keptStatements+1, nil) // fails only for a size that is not positive
	return c, nil
}

// statement is a prepared statement of the driver. It has one cursor, so it is not in the cache while it is used.
type statement interface {
	driver.Stmt
	driver.StmtExecContext
	driver.StmtQueryContext
}

// connection is a [driver.Conn] that caches the most recently used statements. One goroutine at a time uses it.
type connection struct {
	sqlite.Conn
	kept *simplelru.LRU[string, statement] // by their texts
	size int                               // bytes of the texts
}

func (c *connection) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	s, err := c.take(ctx, query, len(args))
	if err != nil {
		return nil, err
	}
	defer c.keep(query, s)
	result, err := s.ExecContext(ctx, args)
	return result, orEnd(ctx, err)
}

func (c *connection) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	s, err := c.take(ctx, query, len(args))
	if err != nil {
		return nil, err
	}
	found, err := s.QueryContext(ctx, args)
	if err != nil {
		c.keep(query, s)
		return nil, err
	}
	return &rows{found, ctx, func() { c.keep(query, s) }}, nil
}

// BeginTx locks the file for a transaction that writes. One that only reads takes no lock, and the driver is not told:
// it would set query_only and unset it, and at each SQLite would prepare all statements of the connection again.
func (c *connection) BeginTx(ctx context.Context, options driver.TxOptions) (driver.Tx, error) {
	if !options.ReadOnly {
		options.Isolation = driver.IsolationLevel(sql.LevelSerializable) // the driver begins it with IMMEDIATE
	}
	options.ReadOnly = false
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

// take takes a statement out of the cache, or prepares it. The driver would take a missing argument for NULL.
func (c *connection) take(ctx context.Context, query string, args int) (statement, error) {
	s, found := c.kept.Peek(query)
	if found {
		c.kept.Remove(query)
		c.size -= len(query)
	} else {
		made, err := c.PrepareContext(ctx, query)
		if err != nil {
			return nil, orEnd(ctx, err)
		}
		s = made.(statement)
	}
	if wanted := s.NumInput(); wanted >= 0 && wanted != args {
		return nil, errors.Join(fmt.Errorf("the statement has %d parameters, and %d arguments are given", wanted, args), s.Close())
	}
	return s, nil
}

// keep puts a statement into the cache after its use, unless its text is too long, or was prepared twice.
func (c *connection) keep(query string, s statement) {
	if len(query) > keptText || c.kept.Contains(query) {
		_ = s.Close() // an error changes nothing, here and below
		return
	}
	c.kept.Add(query, s)
	for c.size += len(query); c.size > keptTexts || c.kept.Len() > keptStatements; {
		text, oldest, _ := c.kept.RemoveOldest()
		c.size -= len(text)
		_ = oldest.Close()
	}
}

func (c *connection) Close() error {
	for _, s := range c.kept.Values() {
		_ = s.Close()
	}
	return c.Conn.Close()
}

// rows keep their statement when they are closed.
type rows struct {
	driver.Rows
	ctx  context.Context //nolint:containedctx // of the query
	keep func()
}

func (r *rows) Next(values []driver.Value) error {
	err := r.Rows.Next(values)
	if err == io.EOF { //nolint:errorlint // as database/sql compares it
		return err
	}
	return orEnd(r.ctx, err)
}

func (r *rows) Close() error {
	defer r.keep()
	return r.Rows.Close()
}
