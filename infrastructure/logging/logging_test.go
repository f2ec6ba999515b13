package logging_test

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"strings"
	"testing"

	"github.com/go-chi/chi/v5/middleware"
	"go.opentelemetry.io/otel/trace"

	"example.com/threads/infrastructure/config"
	"example.com/threads/infrastructure/logging"
)

func TestLinesCarryWhatTheContextCarries(t *testing.T) {
	var out bytes.Buffer
	log := logging.Settings{}.Logger(&out).With("program", "read-api")
	span := trace.NewSpanContext(trace.SpanContextConfig{TraceID: trace.TraceID{15: 1}, SpanID: trace.SpanID{7: 1}})
	ctx := trace.ContextWithSpanContext(context.WithValue(t.Context(), middleware.RequestIDKey, "r1"), span)

	log.DebugContext(ctx, "below the level")
	log.InfoContext(ctx, "hello", "n", 1)

	var line map[string]any
	if err := json.Unmarshal(out.Bytes(), &line); err != nil {
		t.Fatalf("want one JSON line, got %q: %v", out.String(), err)
	}
	for key, want := range map[string]any{"msg": "hello", "program": "read-api", "request_id": "r1", "trace_id": "00000000000000000000000000000001", "n": 1.0} {
		if line[key] != want {
			t.Errorf("%s is %v, want %v", key, line[key], want)
		}
	}
}

func TestTextIsForPeople(t *testing.T) {
	var out bytes.Buffer
	logging.Settings{Level: slog.LevelDebug, Text: true}.Logger(&out).Debug("hello")
	if !strings.Contains(out.String(), "level=DEBUG msg=hello") {
		t.Errorf("got %q", out.String())
	}
}

func TestSettings(t *testing.T) {
	read := func(level, format string) (logging.Settings, error) {
		environment := map[string]string{"LOG_LEVEL": level, "LOG_FORMAT": format}
		return config.Read(func(name string) string { return environment[name] }, func(r *config.Reader) logging.Settings {
			return logging.ReadSettings(r, "warn", "text")
		})
	}
	for text, want := range map[string]slog.Level{"": slog.LevelWarn, "debug": slog.LevelDebug, "INFO": slog.LevelInfo, "Error": slog.LevelError} {
		if found, err := read(text, ""); err != nil || found != (logging.Settings{Level: want, Text: true}) {
			t.Errorf("level %q is %v, %v", text, found, err)
		}
	}
	if found, err := read("", "json"); err != nil || found.Text {
		t.Errorf("format json is %v, %v", found, err)
	}
	_, err := read("loud", "xml")
	for _, want := range []string{"use debug, info, warn or error", "one of text, json"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not in %v", want, err)
		}
	}
}
