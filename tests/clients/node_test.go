package clients

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

const (
	oldestNode  = 18
	needsNode   = "these tests need Node 18 or newer, with npm, on the PATH; on Debian and Ubuntu: apt-get install nodejs npm"
	installTime = 5 * time.Minute
	scriptTime  = time.Minute
)

// nodeVersion returns the major version of Node. The test fails if it is too old.
func nodeVersion(t *testing.T) int {
	t.Helper()
	version, err := exec.CommandContext(t.Context(), "node", "--version").Output()
	if err != nil {
		t.Fatalf("%s: %v", needsNode, err)
	}
	major, _, _ := strings.Cut(strings.TrimPrefix(string(version), "v"), ".")
	number, err := strconv.Atoi(major)
	if err != nil || number < oldestNode {
		t.Fatalf("%s; found %s", needsNode, version)
	}
	return number
}

// installNode installs the packages of package-lock.json, unless they are installed.
func installNode(t *testing.T) {
	t.Helper()
	nodeVersion(t)
	lock, err := os.ReadFile("package-lock.json")
	if err != nil {
		t.Fatal(err)
	}
	digest := sha256.Sum256(lock)
	installed, stamp := filepath.Join("node_modules", ".installed"), hex.EncodeToString(digest[:])
	if last, err := os.ReadFile(installed); err == nil && string(last) == stamp {
		return
	}
	ctx, cancel := context.WithTimeout(t.Context(), installTime)
	defer cancel()
	if output, err := exec.CommandContext(ctx, "npm", "ci").CombinedOutput(); err != nil {
		t.Fatalf("npm ci: %v (%s; it fetches packages from npm's registry)\n%s", err, needsNode, output)
	}
	if err := os.WriteFile(installed, []byte(stamp), 0o600); err != nil {
		t.Fatal(err)
	}
}

// tool returns the path of a package's command.
func tool(name string) string { return filepath.Join("node_modules", ".bin", name) }

// runScript runs a command to its end and passes each line of its output to orders. Lines that orders does not handle
// are shown if the command fails.
func runScript(t *testing.T, env []string, orders func(line string) bool, name string, args ...string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), scriptTime)
	defer cancel()
	command := exec.CommandContext(ctx, name, args...)
	command.Env = append(os.Environ(), env...)
	var failure bytes.Buffer
	command.Stderr = &failure
	command.WaitDelay = time.Second
	output, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	var said []string
	for lines := bufio.NewScanner(output); lines.Scan(); {
		if line := lines.Text(); orders == nil || !orders(line) {
			said = append(said, line)
		}
	}
	if err := command.Wait(); err != nil {
		t.Errorf("%s %s: %v\n%s\n%s", name, strings.Join(args, " "), err, strings.Join(said, "\n"), &failure)
	}
}
