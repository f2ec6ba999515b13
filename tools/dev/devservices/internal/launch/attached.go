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

// Attached is a program that ends with this process. A guard process between the two holds the reading end of a pipe.
// The pipe closes when Stop is called or this process is killed, and then the guard ends the program.
type Attached struct {
	lifeline io.Closer
	ended    chan struct{}
	code     int // once ended is closed
}

// StartAttached starts the program through guard, and returns when it is ready. guard is the command line of a process
// that calls Guard with the arguments after it. The program's output goes to <folder>/<name>.log. The caller must call
// Stop.
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

// Foreground runs argv through guard, with this process's output and without input, and returns its exit code. If ctx
// ends first, argv and all processes that it started are ended before Foreground returns.
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
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // this process handles Ctrl-C in the terminal
	lifeline, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	running := &Attached{lifeline: lifeline, ended: make(chan struct{})}
	go func() { // until the guard ends, which Stop causes
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

// Stop ends the program and returns when it has ended.
func (a *Attached) Stop() {
	_ = a.lifeline.Close()
	<-a.ended
}

// Guard runs argv until it ends or lifeline is closed, which means that the guard's parent process has died. Then it
// ends argv and all processes that argv started. It returns the exit code of argv.
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

// terminateGroup asks a process group to end, and kills the rest after the grace period. It returns the value received
// from ended, the end of the group's leader.
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
	_ = syscall.Kill(-leader, syscall.SIGKILL) // processes that outlived the leader
	return err
}

// exitCode returns the code that a shell shows for the error of exec.Cmd.Wait.
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
