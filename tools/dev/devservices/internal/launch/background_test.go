package launch_test

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"example.com/threads/tools/dev/devservices/internal/launch"
)

func TestBackgroundFindsStartsAndStops(t *testing.T) {
	program, _ := writesItsPid(t)
	background := newBackground(t)

	if pid := running(t, background, program); pid != 0 {
		t.Fatalf("runs as %d before the start", pid)
	}
	ensure(t, background, program)
	first := running(t, background, program)
	if written := pidIn(t, filepath.Join(background.Folder, "sleeper.pid")); first == 0 || written != first {
		t.Errorf("runs as %d, the pid file says %d", first, written)
	}
	ensure(t, background, program)
	if again := running(t, background, program); again != first {
		t.Errorf("runs as %d, and as %d when it ought to have been left alone", first, again)
	}

	kill(t, first)
	eventuallyGone(t, first)
	if pid := running(t, background, program); pid != 0 {
		t.Errorf("runs as %d after kill -9", pid)
	}
	ensure(t, background, program)
	second := running(t, background, program)

	if was, err := background.Stop(program); err != nil || !was {
		t.Errorf("stop: was running %v, error %v", was, err)
	}
	if line := launch.CommandLine(second); line != "" {
		t.Errorf("stopped, but running: %s", line)
	}
	if was, err := background.Stop(program); err != nil || was {
		t.Errorf("second stop: was running %v, error %v", was, err)
	}
}

// A process that was killed a moment ago may still exist, and even answer.
func TestBackgroundStartsWhatEndsWhileItIsLookedAt(t *testing.T) {
	program, _ := writesItsPid(t)
	background := newBackground(t)
	ensure(t, background, program)
	first := running(t, background, program)

	ready := program.Ready
	program.Ready = func(ctx context.Context) error {
		if launch.CommandLine(first) != "" {
			kill(t, first)
			eventuallyGone(t, first)
		}
		return ready(ctx)
	}
	ensure(t, background, program)
	if second := running(t, background, program); second == 0 || second == first {
		t.Errorf("runs as %d after %d", second, first)
	}
}

// After a kill the system removes the command line first and closes the sockets later.
func TestBackgroundWaitsForThePortOfAKilledProcess(t *testing.T) {
	program, _ := writesItsPid(t)
	background := newBackground(t)
	listener := listen(t, program.Port)
	background.Progress = func(format string, args ...any) {
		t.Logf(format, args...)
		if strings.Contains(format, "waits for port") {
			_ = listener.Close()
		}
	}
	ensure(t, background, program)
}

func TestBackgroundNamesThePortThatAnotherProgramHas(t *testing.T) {
	program, _ := writesItsPid(t)
	program.PortAdvice = "buy another port"
	program.Prepare = func(context.Context) ([]string, error) { return nil, errors.New("was going to start") }
	listen(t, program.Port)
	err := newBackground(t).Ensure(t.Context(), program)
	if err == nil || !strings.Contains(err.Error(), "another program listens on port "+strconv.Itoa(program.Port)+"; stop it, or buy another port") {
		t.Errorf("error %v", err)
	}
}

func TestBackgroundLeavesAStrangerAlone(t *testing.T) {
	program, _ := writesItsPid(t)
	background := newBackground(t)
	stranger := strconv.Itoa(os.Getpid()) // Stop would end this test
	if err := os.WriteFile(filepath.Join(background.Folder, "sleeper.pid"), []byte(stranger), 0o600); err != nil {
		t.Fatal(err)
	}
	if pid := running(t, background, program); pid != 0 {
		t.Errorf("Running returns the process %d of another program", pid)
	}
	if was, err := background.Stop(program); err != nil || was {
		t.Errorf("stop: was running %v, error %v", was, err)
	}
}

func TestBackgroundThatIsNeverReadyIsStopped(t *testing.T) {
	program, _ := writesItsPid(t)
	background := newBackground(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	reason := errors.New("no more patience")
	ready := program.Ready
	program.Ready = func(ctx context.Context) error {
		if ready(ctx) == nil {
			cancel(reason)
		}
		return errors.New("not ready yet")
	}
	err := background.Ensure(ctx, program)
	if !errors.Is(err, reason) || !strings.Contains(err.Error(), "not ready yet") {
		t.Errorf("started with %v", err)
	}
	if pid := running(t, background, program); pid != 0 {
		t.Errorf("left running as %d", pid)
	}
}

func newBackground(t *testing.T) launch.Background {
	t.Helper()
	return launch.Background{Folder: t.TempDir(), Progress: t.Logf}
}

func ensure(t *testing.T, background launch.Background, program launch.Program) {
	t.Helper()
	if err := background.Ensure(t.Context(), program); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if _, err := background.Stop(program); err != nil {
			t.Error(err)
		}
	})
}

func running(t *testing.T, background launch.Background, program launch.Program) int {
	t.Helper()
	pid, err := background.Running(program)
	if err != nil {
		t.Fatal(err)
	}
	return pid
}

func kill(t *testing.T, pid int) {
	t.Helper()
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Error(err)
	}
}

func listen(t *testing.T, port int) net.Listener {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	return listener
}

func freePort(t *testing.T) int {
	t.Helper()
	listener := listen(t, 0)
	defer func() { _ = listener.Close() }()
	return listener.Addr().(*net.TCPAddr).Port
}
