package logging

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"

	"go.opentelemetry.io/otel/trace"
)

// Format is the format of log lines.
type Format string

// The formats.
const (
	JSON Format = "json"
	Text Format = "text"
)

// ParseFormat reads LOG_FORMAT: "json" or "text", in either case.
func ParseFormat(text string) (Format, error) {
	switch format := Format(strings.ToLower(text)); format {
	case JSON, Text:
		return format, nil
	}
	return "", fmt.Errorf("%q is not a log format; use json or text", text)
}

// ParseLevel reads LOG_LEVEL: "debug", "info", "warn" or "error", in either case.
func ParseLevel(text string) (slog.Level, error) {
	switch strings.ToLower(text) {
	case "debug":
		return slog.LevelDebug, nil
	case "info":
		return slog.LevelInfo, nil
	case "warn":
		return slog.LevelWarn, nil
	case "error":
		return slog.LevelError, nil
	}
	return 0, fmt.Errorf("%q is not a log level; use debug, info, warn or error", text)
}

// New returns a logger that writes lines of at least the given level to w, with the attributes of the context (see
// [With]).
func New(w io.Writer, level slog.Level, format Format) *slog.Logger {
	options := &slog.HandlerOptions{Level: level}
	if format == Text {
		return slog.New(contextHandler{slog.NewTextHandler(w, options)})
	}
	return slog.New(contextHandler{slog.NewJSONHandler(w, options)})
}

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
