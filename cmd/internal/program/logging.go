package program

import (
	"fmt"
	"io"
	"log/slog"

	"example.com/threads/infrastructure/config"
	"example.com/threads/infrastructure/logging"
)

// Logging is how much a program logs, and how.
type Logging struct {
	Level  slog.Level
	Format logging.Format
}

// The levels and formats that programs log with unless they are told otherwise.
const (
	defaultLevel  = "info"
	defaultFormat = "json"
)

// LoggingUsage tells the variables of [ReadLogging] for --help.
var LoggingUsage = LoggingUsageWith(defaultLevel, defaultFormat)

// LoggingUsageWith is LoggingUsage for a program with defaults of its own.
func LoggingUsageWith(level, format string) string {
	return fmt.Sprintf("  LOG_LEVEL                  debug, info, warn or error (%s)\n"+
		"  LOG_FORMAT                 json or text (%s)\n", level, format)
}

// ReadLogging reads LOG_LEVEL and LOG_FORMAT.
func ReadLogging(reader *config.Reader) Logging {
	return ReadLoggingWith(reader, defaultLevel, defaultFormat)
}

// ReadLoggingWith is ReadLogging for a program with defaults of its own.
func ReadLoggingWith(reader *config.Reader, level, format string) Logging {
	return Logging{
		Level:  config.Parsed(reader, "LOG_LEVEL", level, logging.ParseLevel),
		Format: config.Parsed(reader, "LOG_FORMAT", format, logging.ParseFormat),
	}
}

// Logger makes the program's logger.
func (l Logging) Logger(out io.Writer) *slog.Logger { return logging.New(out, l.Level, l.Format) }
