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

// Background is a folder with the logs (<name>.log) and pid files (<name>.pid) of programs that outlive the process
// that started them. A pid counts only if that process has the program's mark on its command line, so another process
// with a reused pid is never waited for or killed. Only one process at a time may use a folder.
type Background struct {
	Folder   string
	Progress Progress
}

// Ensure starts the program unless it runs, and returns when it is ready. If the program does not become ready, it is
// stopped again.
func (b Background) Ensure(ctx context.Context, p Program) error {
	pid, err := b.Running(p)
	if err != nil {
		return err
	}
	if pid != 0 {
		b.Progress("%s runs already (pid %d)", p.Name, pid)
		err := p.awaitReady(ctx, func() bool { return p.is(pid) }, b.file(p, ".log"))
		if !errors.Is(err, errEnded) {
			return err
		}
		b.Progress("%s has ended", p.Name) // it was killed a moment ago
	}
	if err := p.awaitPort(ctx, b.Progress); err != nil {
		return err
	}
	argv, err := p.Prepare(ctx)
	if err != nil {
		return err
	}
	b.Progress("starting %s on port %d", p.Name, p.Port)
	begin := time.Now()
	if err := b.start(ctx, p, argv); err != nil {
		return err
	}
	b.Progress("%s is ready after %.1fs", p.Name, time.Since(begin).Seconds())
	return nil
}

func (b Background) start(ctx context.Context, p Program, argv []string) error {
	log, err := os.OpenFile(b.file(p, ".log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return fmt.Errorf("log of %s: %w", p.Name, err)
	}
	defer func() { _ = log.Close() }()

	cmd := exec.Command(argv[0], argv[1:]...) //nolint:noctx // it outlives this process
	cmd.Env = p.Env
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start %s: %w", p.Name, err)
	}
	pid := cmd.Process.Pid
	if err := os.WriteFile(b.file(p, ".pid"), []byte(strconv.Itoa(pid)+"\n"), 0o644); err != nil {
		return errors.Join(fmt.Errorf("pid of %s: %w", p.Name, err), cmd.Process.Kill(), cmd.Wait())
	}
	running, ended := context.WithCancel(context.Background())
	go func() {
		defer ended()
		_ = cmd.Wait() // its log tells how it ended
	}()
	// A process has no command line yet while it begins, so it is not asked for that.
	if err := p.awaitReady(ctx, func() bool { return running.Err() == nil }, log.Name()); err != nil {
		_, stopped := b.Stop(p)
		return errors.Join(err, stopped)
	}
	return nil
}

// Running returns the process id of the program; 0: it does not run.
func (b Background) Running(p Program) (int, error) {
	content, err := os.ReadFile(b.file(p, ".pid"))
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("pid of %s: %w", p.Name, err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(content)))
	if err == nil && pid > 0 && p.is(pid) {
		return pid, nil
	}
	return 0, nil
}

// Grace is the time between the request to end and the kill of a program.
const Grace = 15 * time.Second

const stopInterval = 20 * time.Millisecond

// Stop ends the program, reports whether it ran, and returns when it has ended and released its port.
func (b Background) Stop(p Program) (wasRunning bool, err error) {
	pid, err := b.Running(p)
	if err != nil {
		return false, err
	}
	if pid != 0 {
		if err := stop(pid, p); err != nil {
			return true, err
		}
	}
	if err := os.Remove(b.file(p, ".pid")); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return pid != 0, fmt.Errorf("pid of %s: %w", p.Name, err)
	}
	return pid != 0, nil
}

func stop(pid int, p Program) error {
	killAt := time.Now().Add(Grace)
	if err := syscall.Kill(pid, syscall.SIGTERM); err != nil && !errors.Is(err, syscall.ESRCH) { // as of another user's
		return fmt.Errorf("stop %s (pid %d): %w", p.Name, pid, err)
	}
	ticker := time.NewTicker(stopInterval)
	defer ticker.Stop()
	for p.is(pid) {
		if time.Now().After(killAt) {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
		if time.Now().After(killAt.Add(Grace)) {
			return fmt.Errorf("%s (pid %d) does not end", p.Name, pid)
		}
		<-ticker.C
	}
	giveUp := time.Now().Add(portTimeout) // if another program uses the port
	for PortTaken(context.Background(), p.Port) && time.Now().Before(giveUp) {
		<-ticker.C
	}
	return nil
}

func (b Background) file(p Program, suffix string) string {
	return filepath.Join(b.Folder, p.Name+suffix)
}

// is reports whether this process is the program.
func (p Program) is(pid int) bool { return strings.Contains(CommandLine(pid), p.Mark) }

// CommandLine returns the command line of a living process; "": there is none. A zombie process has none.
func CommandLine(pid int) string {
	if line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid)); err == nil {
		return strings.ReplaceAll(string(line), "\x00", " ")
	}
	line, err := exec.Command("ps", "-ww", "-o", "command=", "-p", strconv.Itoa(pid)).Output() //nolint:noctx // ps answers at once
	if err != nil {
		return ""
	}
	return string(line)
}
