package launch

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"syscall"
)

// Foreground runs argv with this process's output and returns its exit code. When ctx ends first,
// argv and everything it started are ended (they are a process group of their own) before it
// returns. argv reads no input.
func Foreground(ctx context.Context, argv, env []string) (int, error) {
	cmd := exec.Command(argv[0], argv[1:]...) //nolint:noctx // ctx ends the whole group below
	cmd.Env = env
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		return 0, fmt.Errorf("start %s: %w", argv[0], err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()

	select {
	case err := <-ended:
		return ExitCode(err), nil
	case <-ctx.Done():
		group := -cmd.Process.Pid
		err := terminate(group, ended)
		_ = syscall.Kill(group, syscall.SIGKILL) // whoever outlived the group's leader
		return ExitCode(err), context.Cause(ctx)
	}
}
