package logging_test

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"strings"
	"testing"

	"example.com/threads/infrastructure/logging"
)

func TestLinesCarryWhatTheContextCarries(t *testing.T) {
	var out bytes.Buffer
	log := logging.New(&out, slog.LevelInfo, logging.JSON).With("program", "read-api")
	outer := logging.With(t.Context(), slog.String("request_id", "r1"))
	inner := logging.With(outer, slog.String("trace_id", "t1"))
	_ = logging.With(outer, slog.String("trace_id", "t2")) // another child must not change inner

	log.DebugContext(inner, "below the level")
	log.InfoContext(inner, "hello", "n", 1)

	var line map[string]any
	if err := json.Unmarshal(out.Bytes(), &line); err != nil {
		t.Fatalf("want one JSON line, got %q: %v", out.String(), err)
	}
	for key, want := range map[string]any{"msg": "hello", "program": "read-api", "request_id": "r1", "trace_id": "t1", "n": 1.0} {
		if line[key] != want {
			t.Errorf("%s is %v, want %v", key, line[key], want)
		}
	}
}

func TestTextIsForPeople(t *testing.T) {
	var out bytes.Buffer
	logging.New(&out, slog.LevelDebug, logging.Text).Debug("hello")
	if !strings.Contains(out.String(), "level=DEBUG msg=hello") {
		t.Errorf("got %q", out.String())
	}
}

func TestSettings(t *testing.T) {
	for text, want := range map[string]slog.Level{"debug": slog.LevelDebug, "INFO": slog.LevelInfo, "warn": slog.LevelWarn, "Error": slog.LevelError} {
		if level, err := logging.ParseLevel(text); err != nil || level != want {
			t.Errorf("level %q is %v, %v", text, level, err)
		}
	}
	if _, err := logging.ParseLevel("loud"); err == nil || !strings.Contains(err.Error(), "use debug, info, warn or error") {
		t.Errorf("level loud: %v", err)
	}
	if format, err := logging.ParseFormat("JSON"); err != nil || format != logging.JSON {
		t.Errorf("format JSON is %v, %v", format, err)
	}
	if _, err := logging.ParseFormat("xml"); err == nil || !strings.Contains(err.Error(), "use json or text") {
		t.Errorf("format xml: %v", err)
	}
}
