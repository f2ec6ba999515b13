package program

import (
	"io"
	"log/slog"

	"example.com/threads/infrastructure/config"
	"example.com/threads/infrastructure/logging"
)

// Logging is the level and the format of a program's log.
type Logging struct {
	Level  slog.Level
	Format logging.Format
}

// ReadLogging reads how a server logs.
func ReadLogging(r *config.Reader) Logging { return ReadLoggingWith(r, "info", "json") }

// ReadLoggingWith is ReadLogging with other defaults.
func ReadLoggingWith(r *config.Reader, level, format string) Logging {
	return Logging{
		Level:  config.Parsed(r, "LOG_LEVEL", level, "debug, info, warn or error", logging.ParseLevel),
		Format: config.Parsed(r, "LOG_FORMAT", format, "json or text", logging.ParseFormat),
	}
}

// Logger returns the program's logger.
func (l Logging) Logger(out io.Writer) *slog.Logger { return logging.New(out, l.Level, l.Format) }
