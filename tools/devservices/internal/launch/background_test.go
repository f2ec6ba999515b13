package launch_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"example.com/threads/tools/devservices/internal/launch"
)

func TestBackgroundFindsStartsAndStops(t *testing.T) {
	folder := t.TempDir()
	program, background := writesItsPid(folder), launch.Background{Folder: folder}

	if pid := running(t, background, program); pid != 0 {
		t.Fatalf("runs as %d before the start", pid)
	}
	start(t, background, program)
	first := running(t, background, program)
	if written := pidIn(t, filepath.Join(folder, "sleeper.pid")); first == 0 || written != first {
		t.Errorf("runs as %d, the pid file says %d", first, written)
	}
	if err := background.AwaitReady(t.Context(), program); err != nil {
		t.Error(err)
	}

	if err := syscall.Kill(first, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	eventuallyGone(t, first)
	if pid := running(t, background, program); pid != 0 {
		t.Errorf("runs as %d after kill -9", pid)
	}
	start(t, background, program)
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

func TestBackgroundLeavesAStrangerAlone(t *testing.T) {
	folder := t.TempDir()
	program, background := writesItsPid(folder), launch.Background{Folder: folder}
	stranger := strconv.Itoa(os.Getpid()) // Stop would end this test
	if err := os.WriteFile(filepath.Join(folder, "sleeper.pid"), []byte(stranger), 0o600); err != nil {
		t.Fatal(err)
	}
	if pid := running(t, background, program); pid != 0 {
		t.Errorf("takes process %d for its own", pid)
	}
	if was, err := background.Stop(program); err != nil || was {
		t.Errorf("stop: was running %v, error %v", was, err)
	}
}

func TestBackgroundThatIsNeverReadyIsStopped(t *testing.T) {
	folder := t.TempDir()
	program, background := writesItsPid(folder), launch.Background{Folder: folder}
	ctx, cancel := context.WithCancelCause(t.Context())
	reason := errors.New("no more patience")
	ready := program.Ready
	program.Ready = func(ctx context.Context) error {
		if ready(ctx) == nil {
			cancel(reason)
		}
		return errors.New("not ready yet")
	}
	err := background.Start(ctx, program)
	if !errors.Is(err, reason) || !strings.Contains(err.Error(), "not ready yet") {
		t.Errorf("started with %v", err)
	}
	if pid := running(t, background, program); pid != 0 {
		t.Errorf("left running as %d", pid)
	}
}

func start(t *testing.T, background launch.Background, program launch.Program) {
	t.Helper()
	if err := background.Start(t.Context(), program); err != nil {
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
