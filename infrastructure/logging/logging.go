package logging

import (
	"fmt"
	"io"
	"log/slog"
	"strings"
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
