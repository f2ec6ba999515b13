package database

import (
	"cmp"
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"strings"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
)

const (
	tracerName = "example.com/threads/infrastructure/database"
	// shownText limits the part of a statement in its span, in bytes, because statements for many rows are long. Values
	// are not in it.
	shownText = 300
)

// open opens a pool whose statements get spans below a recorded span. Without one, a statement only costs a lookup in
// its context.
func open(connector driver.Connector) *sql.DB { return sql.OpenDB(traced{connector}) }

type traced struct{ driver.Connector }

func (t traced) Connect(ctx context.Context) (driver.Conn, error) {
	opened, err := t.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	conn, able := opened.(fullConn)
	if !able {
		return nil, errors.Join(fmt.Errorf("a connection of type %T lacks methods that are needed here", opened), opened.Close())
	}
	return tracedConn{conn}, nil
}

// fullConn is a connection of the drivers.
type fullConn interface {
	sqliteConn
	driver.ExecerContext
	driver.QueryerContext
}

type tracedConn struct{ fullConn }

func (c tracedConn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	ctx, span := startSpan(ctx, query)
	result, err := c.fullConn.ExecContext(ctx, query, args)
	endSpan(span, err)
	return result, err
}

// QueryContext implements [driver.QueryerContext]. The span ends before the rows are read.
func (c tracedConn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	ctx, span := startSpan(ctx, query)
	result, err := c.fullConn.QueryContext(ctx, query, args)
	endSpan(span, err)
	return result, err
}

func (c tracedConn) BeginTx(ctx context.Context, options driver.TxOptions) (driver.Tx, error) {
	tx, err := c.fullConn.BeginTx(ctx, options)
	if err != nil {
		return nil, err
	}
	return tracedTx{tx, ctx}, nil
}

// CheckNamedValue implements [driver.NamedValueChecker]: for values that need a conversion, as the driver does.
func (c tracedConn) CheckNamedValue(value *driver.NamedValue) error {
	if driver.IsValue(value.Value) {
		return nil
	}
	if checker, able := c.fullConn.(driver.NamedValueChecker); able {
		return checker.CheckNamedValue(value)
	}
	return driver.ErrSkip
}

type tracedTx struct {
	driver.Tx
	ctx context.Context // of the transaction's start
}

func (t tracedTx) Commit() error {
	_, span := startSpan(t.ctx, "COMMIT")
	err := t.Tx.Commit()
	endSpan(span, err)
	return err
}

func startSpan(ctx context.Context, query string) (context.Context, trace.Span) {
	parent := trace.SpanFromContext(ctx)
	if !parent.IsRecording() {
		return ctx, nil
	}
	query = strings.TrimSpace(query)
	verb, _, _ := strings.Cut(query, " ")
	return parent.TracerProvider().Tracer(tracerName).Start(ctx, cmp.Or(verb, "statement"), trace.WithSpanKind(trace.SpanKindClient),
		trace.WithAttributes(attribute.String("db.query.text", query[:min(len(query), shownText)])))
}

// endSpan ends a span; nil: not traced.
func endSpan(span trace.Span, err error) {
	if span == nil {
		return
	}
	if err != nil && !errors.Is(err, driver.ErrSkip) {
		span.SetStatus(codes.Error, err.Error())
	}
	span.End()
}
