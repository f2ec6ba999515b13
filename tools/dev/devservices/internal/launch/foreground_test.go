package launch_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"example.com/threads/tools/dev/devservices/internal/launch"
)

func TestForegroundReturnsTheExitCode(t *testing.T) {
	for script, want := range map[string]int{
		"exit 0":        0,
		"exit 7":        7,
		"kill -TERM $$": 128 + int(syscall.SIGTERM),
	} {
		code, err := launch.Foreground(t.Context(), guard(), []string{"/bin/sh", "-c", script}, nil)
		if err != nil || code != want {
			t.Errorf("%s: code %d, error %v, want code %d", script, code, err, want)
		}
	}
}

func TestForegroundPassesTheEnvironment(t *testing.T) {
	code, err := launch.Foreground(t.Context(), guard(),
		[]string{"/bin/sh", "-c", `test "$GIVEN" = yes`}, append(os.Environ(), "GIVEN=yes"))
	if err != nil || code != 0 {
		t.Errorf("code %d, error %v", code, err)
	}
}

func TestForegroundEndsEverythingWithItsContext(t *testing.T) {
	file := filepath.Join(t.TempDir(), "pid")
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	reason := errors.New("enough")
	done := make(chan error, 1)
	go func() {
		// The grandchild is a process that a killed go command leaves behind.
		script := fmt.Sprintf("sleep 300 & echo $! > %s.new; mv %s.new %s; wait", file, file, file)
		_, err := launch.Foreground(ctx, guard(), []string{"/bin/sh", "-c", script}, nil)
		done <- err
	}()
	pid := pidIn(t, file)
	cancel(reason)
	if err := <-done; !errors.Is(err, reason) {
		t.Errorf("ended with %v", err)
	}
	eventuallyGone(t, pid)
}

func pidIn(t *testing.T, file string) int {
	t.Helper()
	var pid int
	eventually(t, 10*time.Second, func() error {
		content, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		pid, err = strconv.Atoi(strings.TrimSpace(string(content)))
		return err
	})
	return pid
}

func eventuallyGone(t *testing.T, pid int) {
	t.Helper()
	eventually(t, 10*time.Second, func() error {
		if line := launch.CommandLine(pid); line != "" {
			return fmt.Errorf("process %d still runs: %s", pid, line)
		}
		return nil
	})
}
