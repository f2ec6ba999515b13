package launch

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"
)

// Guard runs argv until it ends by itself or until lifeline does, which is when the process that
// started the guard is gone; then it ends argv and everything that argv started. It returns the exit
// code of argv.
func Guard(argv []string, lifeline io.Reader) int {
	cmd := exec.Command(argv[0], argv[1:]...) //nolint:noctx // the lifeline ends it
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		_, _ = io.Copy(io.Discard, lifeline)
	}()
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()

	select {
	case err := <-ended:
		return ExitCode(err)
	case <-gone:
		return ExitCode(terminateGroup(cmd.Process.Pid, ended))
	}
}
