package testenv

import (
	"crypto/rand"
	"fmt"
	mathrand "math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

const maxStem = 30

// UniqueName returns a name that no other test or run uses: the shortened name of the test and a random suffix. It has
// at most 64 characters of [a-z0-9_] and starts with a letter, so it is valid for DynamoDB tables, SQL databases and
// files.
func UniqueName(t testing.TB) string {
	t.Helper()
	stem := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			return r
		case r >= 'A' && r <= 'Z':
			return r - 'A' + 'a'
		default:
			return '_'
		}
	}, strings.TrimPrefix(t.Name(), "Test"))
	if len(stem) > maxStem {
		stem = stem[:maxStem]
	}
	return "t_" + stem + "_" + strings.ToLower(rand.Text()[:12])
}

// FreePort returns a TCP port of 127.0.0.1 for a program that cannot listen on port 0. A program that is started again
// gets it again: it is below the ports of outgoing connections, and no other test gets it until this one ends.
func FreePort(t testing.TB) int {
	t.Helper()
	for range 100 {
		port := 10_000 + mathrand.IntN(20_000) //nolint:gosec // no secret
		if !reserve(t, port) {
			continue
		}
		listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err == nil {
			_ = listener.Close()
			return port
		}
	}
	t.Fatal("no free port was found")
	return 0
}

// reserve locks the file of a port until the test ends. The system unlocks it when the test's process is killed.
func reserve(t testing.TB, port int) bool {
	t.Helper()
	folder := filepath.Join(os.TempDir(), "es-test-ports") //nolint:usetesting // of all tests
	if err := os.MkdirAll(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	file, err := os.OpenFile(filepath.Join(folder, strconv.Itoa(port)), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	if syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) != nil {
		_ = file.Close()
		return false
	}
	t.Cleanup(func() { _ = file.Close() })
	return true
}
