package testenv

import (
	"crypto/rand"
	"fmt"
	mathrand "math/rand/v2"
	"net"
	"strings"
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

// FreePort returns a TCP port of 127.0.0.1 that was free a moment ago, for a program that cannot listen on port 0. It
// is below the ports of outgoing connections, so that a program that is started again gets it again.
func FreePort(t testing.TB) int {
	t.Helper()
	for range 100 {
		port := 10_000 + mathrand.IntN(20_000) //nolint:gosec // no secret
		listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err == nil {
			_ = listener.Close()
			return port
		}
	}
	t.Fatal("no free port was found")
	return 0
}
