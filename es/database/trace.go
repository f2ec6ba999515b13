package database

import (
	"cmp"
	"context"
	"database/sql"
	"database/sql/driver"
	"strings"

	"github.com/XSAM/otelsql"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"
)

// shownText limits the part of a statement in its span, in bytes, because statements for many rows are long. Values
// are not in it.
const shownText = 300

// open opens a pool. With a tracer, which may be nil, statements below a recorded span have spans.
func open(connector driver.Connector, tracer trace.TracerProvider) *sql.DB {
	if tracer == nil {
		return sql.OpenDB(connector)
	}
	return otelsql.OpenDB(connector,
		otelsql.WithTracerProvider(tracer),
		otelsql.WithSpanNameFormatter(func(_ context.Context, method otelsql.Method, query string) string {
			verb, _, _ := strings.Cut(strings.TrimSpace(query), " ")
			return cmp.Or(verb, string(method))
		}),
		otelsql.WithAttributesGetter(func(_ context.Context, _ otelsql.Method, query string, _ []driver.NamedValue) []attribute.KeyValue {
			if query == "" {
				return nil
			}
			query = strings.TrimSpace(query)
			return []attribute.KeyValue{attribute.String("db.query.text", query[:min(len(query), shownText)])}
		}),
		otelsql.WithSpanOptions(otelsql.SpanOptions{
			DisableErrSkip: true, DisableQuery: true, OmitConnResetSession: true, OmitConnPrepare: true, OmitRows: true, OmitConnectorConnect: true,
			SpanFilter: func(ctx context.Context, _ otelsql.Method, _ string, _ []driver.NamedValue) bool {
				return trace.SpanFromContext(ctx).IsRecording()
			},
		}))
}
