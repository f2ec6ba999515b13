package launch

import (
	"context"
	"os"
)

// Foreground runs argv through guard, with this process's output and without input, and returns its
// exit code. When ctx ends first, argv and everything it started are ended before it returns.
func Foreground(ctx context.Context, guard, argv, env []string) (int, error) {
	running, err := attach(guard, Program{Name: argv[0], Argv: argv, Env: env}, os.Stdout, os.Stderr)
	if err != nil {
		return 0, err
	}
	defer running.Stop()
	select {
	case <-running.ended:
		return running.code, nil
	case <-ctx.Done():
		return 0, context.Cause(ctx)
	}
}
