package readmodeltest

import (
	"context"
	"database/sql/driver"
	"fmt"
	"sync/atomic"
)

// counter counts statements.
type counter struct{ statements atomic.Int64 }

// connector opens connections that count their queries.
type connector struct {
	driver.Connector
	counter *counter
}

// Connect implements [driver.Connector].
func (c connector) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := c.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	able, ok := conn.(preparer)
	if !ok {
		return nil, fmt.Errorf("connections of type %T can't be counted", conn)
	}
	return countingConn{able, c.counter}, nil
}

type preparer interface {
	driver.Conn
	driver.ConnPrepareContext
}

// countingConn counts what is queried, and what is prepared for it.
type countingConn struct {
	preparer
	counter *counter
}

// QueryContext implements [driver.QueryerContext].
func (c countingConn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	queryer, ok := c.preparer.(driver.QueryerContext)
	if !ok {
		return nil, driver.ErrSkip // then it is prepared
	}
	c.counter.statements.Add(1)
	return queryer.QueryContext(ctx, query, args)
}

// PrepareContext implements [driver.ConnPrepareContext].
func (c countingConn) PrepareContext(ctx context.Context, query string) (driver.Stmt, error) {
	c.counter.statements.Add(1)
	return c.preparer.PrepareContext(ctx, query)
}

// fileConnector opens a SQLite file.
type fileConnector struct {
	driver driver.Driver
	name   string
}

// Connect implements [driver.Connector].
func (c fileConnector) Connect(context.Context) (driver.Conn, error) { return c.driver.Open(c.name) }

// Driver implements [driver.Connector].
func (c fileConnector) Driver() driver.Driver { return c.driver }
