package ctl

import (
	"context"
	"errors"
	"io"
	"slices"

	"github.com/urfave/cli/v3"

	"example.com/threads/infrastructure/config"
)

var (
	errUsage = errors.New("wrong usage")
	// errFound means that something is wrong with the data, and was reported.
	errFound = errors.New("not all is well; see above")
)

// ExitCode returns the exit code of a program that [Run] has returned err to.
func ExitCode(err error) int {
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

// Run runs one command. Results go to stdout, progress and log to stderr.
func Run(
	ctx context.Context, read func(*config.Reader) Settings, args []string, getenv func(string) string, stdout, stderr io.Writer,
) error {
	o := &operator{read: read, getenv: getenv, stdout: stdout, stderr: stderr}
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
