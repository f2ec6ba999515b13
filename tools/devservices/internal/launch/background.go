package launch

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Background is a folder of logs (<name>.log) and pid files (<name>.pid) of programs that outlive the
// process that started them. A pid counts only while it is the id of a process with the program's
// mark on its command line, so that a number that passed on to a stranger is never waited for or
// killed. One process at a time may use a folder.
type Background struct {
	Folder string
}

// Running returns the process id of the program, or 0 when it does not run.
func (b Background) Running(p Program) (int, error) {
	content, err := os.ReadFile(b.pidFile(p))
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("pid of %s: %w", p.Name, err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(content)))
	if err == nil && pid > 0 && strings.Contains(CommandLine(pid), p.Mark) {
		return pid, nil
	}
	return 0, nil
}

// Start starts the program and returns when it is ready. A program that was started and did not
// become ready is stopped again.
func (b Background) Start(ctx context.Context, p Program) error {
	if err := p.prepare(ctx); err != nil {
		return err
	}
	logFile := filepath.Join(b.Folder, p.Name+".log")
	log, err := os.OpenFile(logFile, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return fmt.Errorf("log of %s: %w", p.Name, err)
	}
	defer func() { _ = log.Close() }()

	cmd := exec.Command(p.Argv[0], p.Argv[1:]...) //nolint:noctx // it outlives this process
	cmd.Env = p.Env
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start %s: %w", p.Name, err)
	}
	if err := os.WriteFile(b.pidFile(p), []byte(strconv.Itoa(cmd.Process.Pid)+"\n"), 0o644); err != nil {
		return errors.Join(fmt.Errorf("pid of %s: %w", p.Name, err), cmd.Process.Kill(), cmd.Wait())
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = cmd.Wait() // how it ended is in its log
	}()
	if err := p.awaitReady(ctx, ended, logFile); err != nil {
		_, stopped := b.Stop(p)
		return errors.Join(err, stopped)
	}
	return nil
}

// AwaitReady waits for a program that an earlier process started.
func (b Background) AwaitReady(ctx context.Context, p Program) error {
	return p.awaitReady(ctx, nil, filepath.Join(b.Folder, p.Name+".log"))
}

const stopInterval = 20 * time.Millisecond

// Stop ends the program if it runs, says whether it did, and returns when it is gone.
func (b Background) Stop(p Program) (wasRunning bool, err error) {
	pid, err := b.Running(p)
	if err != nil {
		return false, err
	}
	if pid != 0 {
		deadline := time.Now().Add(Grace)
		_ = syscall.Kill(pid, syscall.SIGTERM)
		ticker := time.NewTicker(stopInterval)
		defer ticker.Stop()
		for strings.Contains(CommandLine(pid), p.Mark) {
			if time.Now().After(deadline) {
				_ = syscall.Kill(pid, syscall.SIGKILL)
			}
			<-ticker.C
		}
	}
	if err := os.Remove(b.pidFile(p)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return pid != 0, fmt.Errorf("pid of %s: %w", p.Name, err)
	}
	return pid != 0, nil
}

func (b Background) pidFile(p Program) string { return filepath.Join(b.Folder, p.Name+".pid") }
