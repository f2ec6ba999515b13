// Package treecopy copies the tree for tests that change and build it.
package treecopy

import (
	"context"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// Of copies the files at root that git would add to a folder that is deleted after the test, and adds them to git
// there. It skips the test with -short.
func Of(t *testing.T, root string) string {
	t.Helper()
	if testing.Short() {
		t.Skip("left out by -short: it builds a copy of the tree")
	}
	to := t.TempDir()
	for path := range strings.SplitSeq(strings.TrimSpace(Do(t, root, "git", "ls-files", "--cached", "--others", "--exclude-standard")), "\n") {
		info, err := os.Stat(filepath.Join(root, path))
		if os.IsNotExist(err) {
			continue // deleted, and not committed yet
		}
		var content []byte
		if err == nil {
			content, err = os.ReadFile(filepath.Join(root, path))
		}
		if err == nil {
			err = os.MkdirAll(filepath.Dir(filepath.Join(to, path)), 0o755)
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(to, path), content, info.Mode())
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	Do(t, to, "git", "init", "-q")
	Do(t, to, "git", "add", "-A")
	return to
}

// WithoutServices makes the tests that [Do] runs in copies with -short leave out what needs DynamoDB Local or MySQL: it
// was run where the copy comes from.
func WithoutServices(t *testing.T) {
	t.Helper()
	t.Setenv("TEST_DYNAMODB_ENDPOINT", "")
	t.Setenv("TEST_MYSQL_DSN", "")
}

// FreeAddress returns an address of this machine that nobody listens on.
func FreeAddress(t *testing.T) string {
	t.Helper()
	var listening net.ListenConfig
	listener, err := listening.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	return listener.Addr().String()
}

// passed are the lines of go test that say only that a package has passed.
var passed = regexp.MustCompile(`(?m)^(ok  |\?   )\t.*\n`)

// Do runs a program in the folder and returns its output. If it fails, the test fails.
func Do(t *testing.T, folder, name string, args ...string) string {
	t.Helper()
	began := time.Now()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = folder
	// As in the Makefile: what was compiled for the tree, or for another copy, is found in the build cache. What is too
	// slow for every change is not repeated in copies.
	cmd.Env = append(os.Environ(), "GOFLAGS="+strings.TrimSpace(os.Getenv("GOFLAGS")+" -trimpath"), "RELEASE_CHECK=")
	output, err := cmd.CombinedOutput()
	if state := cmd.ProcessState; state != nil && time.Since(began) > time.Second {
		t.Logf("%.0f s, %.0f of a processor: %.100s", time.Since(began).Seconds(), (state.UserTime() + state.SystemTime()).Seconds(), strings.Join(cmd.Args, " "))
	}
	if err != nil {
		t.Fatalf("%v: %v\n%s", cmd.Args, err, passed.ReplaceAll(output, nil))
	}
	return string(output)
}
