package launch_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"example.com/threads/tools/devservices/internal/launch"
)

// writesItsPid is a program that is ready once it has written its process id.
func writesItsPid(folder string) launch.Program {
	file := filepath.Join(folder, "written")
	return launch.Program{
		Name: "sleeper", Mark: file,
		Argv: []string{"/bin/sh", "-c", `echo $$ > "$0.new"; mv "$0.new" "$0"; while :; do sleep 1; done`, file},
		Before: func(context.Context) error {
			if err := os.Remove(file); err != nil && !errors.Is(err, os.ErrNotExist) {
				return err
			}
			return nil
		},
		Ready: func(context.Context) error {
			_, err := os.Stat(file)
			return err
		},
	}
}

func TestAttachedRunsUntilStopped(t *testing.T) {
	folder := t.TempDir()
	running, err := launch.StartAttached(t.Context(), guard(), writesItsPid(folder), folder)
	if err != nil {
		t.Fatal(err)
	}
	pid := pidIn(t, filepath.Join(folder, "written"))
	if launch.CommandLine(pid) == "" {
		t.Error("ready, but not running")
	}
	running.Stop()
	if line := launch.CommandLine(pid); line != "" {
		t.Errorf("stopped, but running: %s", line)
	}
}

func TestAttachedThatEndsEarlyShowsItsLog(t *testing.T) {
	program := writesItsPid(t.TempDir())
	program.Argv = []string{"/bin/sh", "-c", "echo the port is taken; exit 1"}
	_, err := launch.StartAttached(t.Context(), guard(), program, t.TempDir())
	if err == nil || !strings.Contains(err.Error(), "the port is taken") {
		t.Errorf("want the end of the log in the error, got %v", err)
	}
}

// TestGuardEndsWithItsLifeline is what happens when devservices is killed: the pipe closes.
func TestGuardEndsWithItsLifeline(t *testing.T) {
	folder := t.TempDir()
	argv := append(guard(), writesItsPid(folder).Argv...)
	cmd := exec.CommandContext(t.Context(), argv[0], argv[1:]...)
	lifeline, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	pid := pidIn(t, filepath.Join(folder, "written"))
	if err := lifeline.Close(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	eventuallyGone(t, pid)
}
