package launch_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"example.com/threads/tools/dev/devservices/internal/launch"
)

// writesItsPid is a program that is ready once it has written its process id.
func writesItsPid(t *testing.T) (p launch.Program, file string) {
	t.Helper()
	file = filepath.Join(t.TempDir(), "written")
	return launch.Program{
		Name: "sleeper", Mark: file, Port: freePort(t),
		Prepare: func(context.Context) ([]string, error) {
			script := `echo $$ > "$0.new"; mv "$0.new" "$0"; while :; do sleep 1; done`
			if err := os.Remove(file); err != nil && !errors.Is(err, os.ErrNotExist) {
				return nil, err
			}
			return []string{"/bin/sh", "-c", script, file}, nil
		},
		Ready: func(context.Context) error {
			_, err := os.Stat(file)
			return err
		},
	}, file
}

func TestAttachedRunsUntilStopped(t *testing.T) {
	program, file := writesItsPid(t)
	running, err := launch.StartAttached(t.Context(), guard(), program, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	pid := pidIn(t, file)
	if launch.CommandLine(pid) == "" {
		t.Error("ready, but not running")
	}
	running.Stop()
	if line := launch.CommandLine(pid); line != "" {
		t.Errorf("stopped, but running: %s", line)
	}
}

func TestAttachedThatEndsEarlyShowsItsLog(t *testing.T) {
	program, _ := writesItsPid(t)
	program.Advice = "buy a new one"
	program.Prepare = func(context.Context) ([]string, error) {
		return []string{"/bin/sh", "-c", "echo the disk is broken; exit 1"}, nil
	}
	_, err := launch.StartAttached(t.Context(), guard(), program, t.TempDir())
	if err == nil || !strings.Contains(err.Error(), "the disk is broken\nbuy a new one") {
		t.Errorf("want the end of the log and the advice in the error, got %v", err)
	}
}

// TestGuardEndsWithItsLifeline simulates the kill of devservices: the pipe closes.
func TestGuardEndsWithItsLifeline(t *testing.T) {
	program, file := writesItsPid(t)
	argv, err := program.Prepare(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	argv = append(guard(), argv...)
	cmd := exec.CommandContext(t.Context(), argv[0], argv[1:]...)
	lifeline, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	pid := pidIn(t, file)
	if err := lifeline.Close(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	eventuallyGone(t, pid)
}
