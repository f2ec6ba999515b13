package testenv

import (
	"testing"
	"time"
)

const pollInterval = 10 * time.Millisecond

// Eventually calls check until it returns nil and fails the test with its last error when that has
// not happened within the given time. check runs on the test's goroutine and at least once.
func Eventually(t testing.TB, within time.Duration, check func() error) {
	t.Helper()
	deadline := time.Now().Add(within)
	ticker := time.NewTicker(pollInterval)
	defer ticker.Stop()
	for {
		err := check()
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("not so within %s: %v", within, err)
		}
		select {
		case <-ticker.C:
		case <-t.Context().Done():
			t.Fatalf("not so when the test ended: %v", err)
		}
	}
}
