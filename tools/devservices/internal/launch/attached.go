package launch

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
)

// Attached is a program that ends with this process. Between the two stands a guard, a process of
// its own that holds the reading end of a pipe: the pipe closes when Stop is called and equally when
// this process is killed, and the guard then ends the program.
type Attached struct {
	lifeline io.Closer
	ended    chan struct{}
	code     int // once ended is closed
}

// StartAttached starts the program through guard (the command line of a process that calls Guard
// with the arguments after it) and returns when it is ready. Its output goes to <folder>/<name>.log.
// The caller must call Stop.
func StartAttached(ctx context.Context, guard []string, p Program, folder string) (*Attached, error) {
	if err := p.prepare(ctx); err != nil {
		return nil, err
	}
	logFile := filepath.Join(folder, p.Name+".log")
	log, err := os.Create(logFile)
	if err != nil {
		return nil, fmt.Errorf("log of %s: %w", p.Name, err)
	}
	defer func() { _ = log.Close() }()

	running, err := attach(guard, p, log, log)
	if err != nil {
		return nil, err
	}
	if err := p.awaitReady(ctx, running.ended, logFile); err != nil {
		running.Stop()
		return nil, err
	}
	return running, nil
}

func attach(guard []string, p Program, stdout, stderr *os.File) (*Attached, error) {
	argv := slices.Concat(guard, p.Argv)
	cmd := exec.Command(argv[0], argv[1:]...) //nolint:noctx // Stop ends it
	cmd.Env = p.Env
	cmd.Stdout, cmd.Stderr = stdout, stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // Ctrl-C in the terminal is for us to handle
	lifeline, err := cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", p.Name, err)
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", p.Name, err)
	}
	running := &Attached{lifeline: lifeline, ended: make(chan struct{})}
	go running.wait(cmd)
	return running, nil
}

// wait ends when the guard does, which Stop brings about.
func (a *Attached) wait(cmd *exec.Cmd) {
	defer close(a.ended)
	a.code = ExitCode(cmd.Wait())
}

// Stop ends the program, if it has not ended, and returns when it is gone.
func (a *Attached) Stop() {
	_ = a.lifeline.Close()
	<-a.ended
}
