package launch

import (
	"errors"
	"os/exec"
	"syscall"
	"time"
)

// Grace is how long a program may take to end when asked to, before it is killed.
const Grace = 15 * time.Second

// terminateGroup asks a process group to end, kills what has not after the grace period, and returns
// what arrives on ended, the end of the group's leader.
func terminateGroup(leader int, ended <-chan error) error {
	_ = syscall.Kill(-leader, syscall.SIGTERM)
	timer := time.NewTimer(Grace)
	defer timer.Stop()
	var err error
	select {
	case err = <-ended:
	case <-timer.C:
		_ = syscall.Kill(-leader, syscall.SIGKILL)
		err = <-ended
	}
	_ = syscall.Kill(-leader, syscall.SIGKILL) // whoever outlived the leader
	return err
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
