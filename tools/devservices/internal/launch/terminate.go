package launch

import (
	"errors"
	"os/exec"
	"syscall"
	"time"
)

// Grace is how long a program may take to end when asked to, before it is killed.
const Grace = 15 * time.Second

// terminate asks a process (or a process group, by its negative id) to end, kills it when it does
// not, and returns what arrives on ended.
func terminate(pid int, ended <-chan error) error {
	_ = syscall.Kill(pid, syscall.SIGTERM)
	timer := time.NewTimer(Grace)
	defer timer.Stop()
	select {
	case err := <-ended:
		return err
	case <-timer.C:
		_ = syscall.Kill(pid, syscall.SIGKILL)
		return <-ended
	}
}

// ExitCode is the code that a shell would show for the error of exec.Cmd.Wait.
func ExitCode(err error) int {
	if err == nil {
		return 0
	}
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		return 1
	}
	if status, ok := exit.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return 128 + int(status.Signal())
	}
	return exit.ExitCode()
}
