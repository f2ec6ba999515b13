// Package program holds what the main functions of programs share: arguments, help, signals and exit codes.
package program

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"log/slog"
	"os"
	"os/signal"
	"slices"
	"syscall"

	"golang.org/x/sync/errgroup"

	"example.com/threads/es/memlimit"
	"example.com/threads/infrastructure/config"
)

// ErrUsage means wrong arguments; --help explains the right ones.
var ErrUsage = ExitError{2, errors.New("wrong usage")}

// ExitError is an error with a program's exit code.
type ExitError struct {
	Code int
	error
}

// Run is a program. It works until ctx ends, then completes the accepted work.
type Run func(ctx context.Context, args []string, getenv func(string) string, stdout io.Writer) error

// Main runs the program and exits: with 0 when it is done, 1 after a failure, or the code of an [ExitError].
func Main(name string, run Run) {
	// Only libraries use the standard logger. net/http's client quotes there what a server sends unasked.
	log.SetOutput(io.Discard)
	if err := memlimit.Manage(); err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", name, err)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Getenv, os.Stdout)
	stop()
	if err == nil {
		return
	}
	fmt.Fprintf(os.Stderr, "%s: %v\n", name, err)
	exit := ExitError{Code: 1}
	_ = errors.As(err, &exit)
	os.Exit(exit.Code)
}

// Exit returns err with an exit code.
func Exit(code int, err error) error { return ExitError{code, err} }

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
Exit code: 0 done or stopped, 1 failure, 2 wrong usage.
`

// With returns the program that works with the settings that read reads from the environment. With --help, it prints
// the help with about.
func With[S any](name, about string, read func(*config.Reader) S, work func(context.Context, S, io.Writer) error) Run {
	return func(ctx context.Context, args []string, getenv func(string) string, stdout io.Writer) error {
		switch {
		case len(args) == 1 && slices.Contains([]string{"-h", "-help", "--help"}, args[0]):
			_, err := fmt.Fprintf(stdout, usage, name, about, config.Help(read))
			return err
		case len(args) > 0:
			return fmt.Errorf("%w: %s takes no arguments; see %s --help", ErrUsage, name, name)
		}
		settings, err := config.Read(getenv, read)
		if err != nil {
			return err
		}
		return work(ctx, settings, stdout)
	}
}
