// Package program holds what the programs' main functions share: arguments, help, exit codes and logging.
package program

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/sync/errgroup"

	"example.com/threads/es/memory"
	"example.com/threads/infrastructure/config"
	"example.com/threads/infrastructure/logging"
)

// ErrUsage means wrong arguments; --help explains the right ones.
var ErrUsage = errors.New("wrong usage")

// Run is a program. It works until ctx ends, then completes the accepted work.
type Run func(ctx context.Context, args []string, getenv func(string) string, stdout io.Writer) error

// Main runs the program and exits: with 0 after a stop, 1 after a failure, 2 after wrong usage.
func Main(name string, run Run) {
	// Only libraries use the standard logger. net/http's client quotes there what a server sends without being asked,
	// which may be what a person wrote.
	log.SetOutput(io.Discard)
	if err := memory.Manage(); err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", name, err)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Getenv, os.Stdout)
	stop()
	if err == nil {
		return
	}
	fmt.Fprintf(os.Stderr, "%s: %v\n", name, err)
	if errors.Is(err, ErrUsage) {
		os.Exit(2)
	}
	os.Exit(1)
}

// Serve runs the parts of a program until ctx ends or one of them fails, and logs its URL and its end.
func Serve(ctx context.Context, log *slog.Logger, url string, parts ...func(context.Context) error) error {
	log.InfoContext(ctx, "listening", "url", url)
	group, serving := errgroup.WithContext(ctx)
	for _, part := range parts {
		group.Go(func() error { return part(serving) })
	}
	err := group.Wait()
	log.InfoContext(ctx, "stopped")
	return err
}

const usage = `Usage: %s
%s
Environment variables (defaults in parentheses):
%s
Exit code: 0 after a stop, 1 failure, 2 wrong usage.
`

// Settings returns what read reads from the environment. A program takes no argument except --help. With --help,
// Settings prints the help, with about as its description, and returns helped = true.
func Settings[S any](
	name, about string, read func(*config.Reader) S, args []string, getenv func(string) string, stdout io.Writer,
) (settings S, helped bool, err error) {
	flags := flag.NewFlagSet(name, flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		_, err := fmt.Fprintf(stdout, usage, name, about, config.Help(read))
		return settings, true, err
	case err != nil || flags.NArg() > 0:
		return settings, false, fmt.Errorf("%w: %s takes no arguments; see %s --help", ErrUsage, name, name)
	}
	settings, err = config.Read(getenv, read)
	return settings, false, err
}

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
