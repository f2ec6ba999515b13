// Package logging creates the programs' logger: log/slog on one stream, as JSON or text. A line that is written with a
// request's context has its trace_id, and the request_id that package httpserver put there.
package logging

import (
	"context"
	"fmt"
	"io"
	"log/slog"

	"github.com/go-chi/chi/v5/middleware"
	"go.opentelemetry.io/otel/trace"

	"example.com/threads/infrastructure/config"
)

// Settings are read from the environment. The zero value logs JSON from level info on.
type Settings struct {
	Level slog.Level
	Text  bool // for people
}

// ReadSettings reads the level and the format of the log, whose defaults these are.
func ReadSettings(r *config.Reader, level, format string) Settings {
	return Settings{
		Level: config.Parsed(r, "LOG_LEVEL", level, "debug, info, warn or error", func(text string) (level slog.Level, err error) {
			if err = level.UnmarshalText([]byte(text)); err != nil {
				err = fmt.Errorf("%q is not a log level; use debug, info, warn or error", text)
			}
			return level, err
		}),
		Text: r.OneOf("LOG_FORMAT", "form of the log", format, map[string]string{"json": "text", "text": "json"}[format]) == "text",
	}
}

// Logger returns a logger that writes to w.
func (s Settings) Logger(w io.Writer) *slog.Logger {
	options := &slog.HandlerOptions{Level: s.Level}
	if s.Text {
		return slog.New(contextHandler{slog.NewTextHandler(w, options)})
	}
	return slog.New(contextHandler{slog.NewJSONHandler(w, options)})
}

// contextHandler adds the ids of the context to each record.
type contextHandler struct{ slog.Handler }

func (h contextHandler) Handle(ctx context.Context, record slog.Record) error {
	record = record.Clone()
	if id := middleware.GetReqID(ctx); id != "" {
		record.AddAttrs(slog.String("request_id", id))
	}
	if span := trace.SpanContextFromContext(ctx); span.HasTraceID() {
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
