package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"syscall"

	"github.com/urfave/cli/v3"

	"example.com/threads/es/memory"
)

func main() {
	if err := memory.Manage(); err != nil {
		fmt.Fprintf(os.Stderr, "threadctl: %v\n", err)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Getenv, os.Stdout, os.Stderr)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "threadctl:", err)
	}
	os.Exit(exitCode(err))
}

var (
	errUsage = errors.New("wrong usage")
	// errFound means that something is wrong with the data, and was reported.
	errFound = errors.New("not all is well; see above")
)

func exitCode(err error) int {
	switch {
	case err == nil:
		return 0
	case errors.Is(err, errUsage):
		return 2
	case errors.Is(err, errFound):
		return 3
	default:
		return 1
	}
}

// run writes results to stdout; progress and log go to stderr.
func run(ctx context.Context, args []string, getenv func(string) string, stdout, stderr io.Writer) error {
	o := &operator{getenv: getenv, stdout: stdout, stderr: stderr}
	program := o.program()
	return program.Run(ctx, append([]string{"threadctl"}, helpFirst(program, args)...))
}

// helpFirst reduces a call for help to the command and --help, because the library takes an argument before --help for
// a topic.
func helpFirst(command *cli.Command, args []string) []string {
	if !slices.Contains(args, "--help") && !slices.Contains(args, "-h") {
		return args
	}
	words := 0
	for words < len(args) {
		if command = command.Command(args[words]); command == nil {
			break
		}
		words++
	}
	return append(slices.Clone(args[:words]), "--help")
}
