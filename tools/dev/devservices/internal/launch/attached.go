package launch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"time"
)

// Attached is a program that ends with this process. Between the two stands a guard, a process of its own that holds
// the reading end of a pipe: the pipe closes when Stop is called and equally when this process is killed, and the guard
// then ends the program.
type Attached struct {
	lifeline io.Closer
	ended    chan struct{}
	code     int // once ended is closed
}

// StartAttached starts the program through guard (the command line of a process that calls Guard with the arguments
// after it) and returns when it is ready. Its output goes to <folder>/<name>.log. The caller must call Stop.
func StartAttached(ctx context.Context, guard []string, p Program, folder string) (*Attached, error) {
	argv, err := p.Prepare(ctx)
	if err != nil {
		return nil, err
	}
	log, err := os.Create(filepath.Join(folder, p.Name+".log"))
	if err != nil {
		return nil, fmt.Errorf("log of %s: %w", p.Name, err)
	}
	defer func() { _ = log.Close() }()

	running, err := attach(slices.Concat(guard, argv), p.Env, log, log)
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", p.Name, err)
	}
	if err := p.awaitReady(ctx, running.alive, log.Name()); err != nil {
		running.Stop()
		return nil, err
	}
	return running, nil
}

// Foreground runs argv through guard, with this process's output and without input, and returns its exit code. When ctx
// ends first, argv and everything it started are ended before it returns.
func Foreground(ctx context.Context, guard, argv, env []string) (int, error) {
	running, err := attach(slices.Concat(guard, argv), env, os.Stdout, os.Stderr)
	if err != nil {
		return 0, fmt.Errorf("start %s: %w", argv[0], err)
	}
	defer running.Stop()
	select {
	case <-running.ended:
		return running.code, nil
	case <-ctx.Done():
		return 0, context.Cause(ctx)
	}
}

func attach(argv, env []string, stdout, stderr *os.File) (*Attached, error) {
	cmd := exec.Command(argv[0], argv[1:]...) //nolint:noctx // Stop ends it
	cmd.Env = env
	cmd.Stdout, cmd.Stderr = stdout, stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // Ctrl-C in the terminal is for us to handle
	lifeline, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	running := &Attached{lifeline: lifeline, ended: make(chan struct{})}
	go func() { // until the guard ends, which Stop brings about
		defer close(running.ended)
		running.code = exitCode(cmd.Wait())
	}()
	return running, nil
}

func (a *Attached) alive() bool {
	select {
	case <-a.ended:
		return false
	default:
		return true
	}
}

// Stop ends the program, if it has not ended, and returns when it is gone.
func (a *Attached) Stop() {
	_ = a.lifeline.Close()
	<-a.ended
}

// Guard runs argv until it ends by itself or until lifeline does, which is when the process that started the guard is
// gone; then it ends argv and everything that argv started. It returns the exit code of argv.
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
		return exitCode(err)
	case <-gone:
		return exitCode(terminateGroup(cmd.Process.Pid, ended))
	}
}

// terminateGroup asks a process group to end, kills what has not after the grace period, and returns what arrives on
// ended, the end of the group's leader.
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

// exitCode is the code that a shell would show for the error of exec.Cmd.Wait.
func exitCode(err error) int {
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
