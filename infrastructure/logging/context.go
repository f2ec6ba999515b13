package logging

import (
	"context"
	"log/slog"
	"slices"

	"go.opentelemetry.io/otel/trace"
)

type attrsKey struct{}

// With returns a context that adds attrs to log lines, in addition to its existing ones. The context's trace is added
// without it, as trace_id.
func With(ctx context.Context, attrs ...slog.Attr) context.Context {
	carried, _ := ctx.Value(attrsKey{}).([]slog.Attr)
	return context.WithValue(ctx, attrsKey{}, append(slices.Clip(carried), attrs...))
}

// contextHandler adds the attributes of the context to each record.
type contextHandler struct{ slog.Handler }

func (h contextHandler) Handle(ctx context.Context, record slog.Record) error {
	if carried, ok := ctx.Value(attrsKey{}).([]slog.Attr); ok {
		record = record.Clone()
		record.AddAttrs(carried...)
	}
	if span := trace.SpanContextFromContext(ctx); span.HasTraceID() {
		record = record.Clone()
		record.AddAttrs(slog.String("trace_id", span.TraceID().String()))
	}
	return h.Handler.Handle(ctx, record)
}

func (h contextHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return contextHandler{h.Handler.WithAttrs(attrs)}
}

func (h contextHandler) WithGroup(name string) slog.Handler {
	return contextHandler{h.Handler.WithGroup(name)}
}
