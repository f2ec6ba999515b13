// Package treecopy is for tests that change a copy of the tree and build it.
package treecopy

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Of is a copy, in a folder that goes with the test, of what git would take of the tree at root.
func Of(t *testing.T, root string) string {
	t.Helper()
	to := t.TempDir()
	for path := range strings.SplitSeq(strings.TrimSpace(Do(t, root, "git", "ls-files", "--cached", "--others", "--exclude-standard")), "\n") {
		content, err := os.ReadFile(filepath.Join(root, path))
		if os.IsNotExist(err) {
			continue // deleted, and not committed yet
		}
		if err == nil {
			err = os.MkdirAll(filepath.Dir(filepath.Join(to, path)), 0o755)
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(to, path), content, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return to
}

// Do runs a program in the folder, and returns what it says. Where it fails, so does the test.
func Do(t *testing.T, folder, name string, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = folder
	output, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %v\n%s", cmd.Args, err, output)
	}
	return string(output)
}
