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
	queryer, ok := conn.(driver.QueryerContext)
	if !ok {
		return nil, fmt.Errorf("connections of type %T can't be counted", conn)
	}
	return countingConn{conn, queryer, c.counter}, nil
}

type countingConn struct {
	driver.Conn
	queryer driver.QueryerContext
	counter *counter
}

// QueryContext implements [driver.QueryerContext].
func (c countingConn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	c.counter.statements.Add(1)
	return c.queryer.QueryContext(ctx, query, args)
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
