package database

import (
	"cmp"
	"context"
	"database/sql"
	"database/sql/driver"
	"strings"

	"github.com/XSAM/otelsql"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric/noop"
	"go.opentelemetry.io/otel/trace"
)

// shownText is how much of a statement its span shows, in bytes: those for many rows are long. Values are not in it.
const shownText = 300

// open opens a pool. With a tracer, every statement below a recorded span has a span; without one, nothing is added.
func open(connector driver.Connector, settings Settings) *sql.DB {
	if settings.Tracer == nil {
		return sql.OpenDB(connector)
	}
	return otelsql.OpenDB(connector,
		otelsql.WithTracerProvider(settings.Tracer),
		otelsql.WithMeterProvider(noop.NewMeterProvider()), // metrics are for Prometheus
		otelsql.WithSpanNameFormatter(func(_ context.Context, method otelsql.Method, query string) string {
			verb, _, _ := strings.Cut(strings.TrimSpace(query), " ")
			return cmp.Or(verb, string(method))
		}),
		otelsql.WithAttributesGetter(func(_ context.Context, _ otelsql.Method, query string, _ []driver.NamedValue) []attribute.KeyValue {
			if query == "" {
				return nil
			}
			return []attribute.KeyValue{attribute.String("db.query.text", query[:min(len(query), shownText)])}
		}),
		otelsql.WithSpanOptions(otelsql.SpanOptions{
			DisableQuery: true, DisableErrSkip: true, OmitConnResetSession: true, OmitConnPrepare: true, OmitRows: true, OmitConnectorConnect: true,
			SpanFilter: func(ctx context.Context, _ otelsql.Method, _ string, _ []driver.NamedValue) bool {
				return trace.SpanFromContext(ctx).IsRecording()
			},
		}))
}
