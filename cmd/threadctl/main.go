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
)

func main() {
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
	// errFound says that the data is not as it should be; what is wrong with it has been told.
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

// run is the program. What a command is asked for goes to stdout; progress and log go to stderr.
func run(ctx context.Context, args []string, getenv func(string) string, stdout, stderr io.Writer) error {
	o := &operator{getenv: getenv, stdout: stdout, stderr: stderr}
	program := o.program()
	return program.Run(ctx, append([]string{"threadctl"}, helpFirst(program, args)...))
}

// helpFirst leaves only the command and --help where help is asked for: behind an argument, the library would take the
// argument for a topic.
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
