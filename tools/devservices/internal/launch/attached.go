package launch

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
)

// Attached is a program that ends with this process. Between the two stands a guard, a process of
// its own that holds the reading end of a pipe: the pipe closes when Stop is called and equally when
// this process is killed, and the guard then ends the program.
type Attached struct {
	lifeline io.Closer
	ended    chan struct{}
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

	p.Argv = append(append([]string{}, guard...), p.Argv...)
	cmd := p.command()
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // Ctrl-C in the terminal is not for it
	lifeline, err := cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", p.Name, err)
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", p.Name, err)
	}
	a := &Attached{lifeline: lifeline, ended: make(chan struct{})}
	go a.wait(cmd)

	if err := p.awaitReady(ctx, a.ended, logFile); err != nil {
		a.Stop()
		return nil, err
	}
	return a, nil
}

// wait ends when the guard does, which Stop brings about.
func (a *Attached) wait(cmd *exec.Cmd) {
	defer close(a.ended)
	_ = cmd.Wait() // how it ended is in its log
}

// Stop ends the program and returns when it is gone.
func (a *Attached) Stop() {
	_ = a.lifeline.Close()
	<-a.ended
}
