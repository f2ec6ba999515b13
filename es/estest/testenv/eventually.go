package testenv

import (
	"testing"
	"time"
)

const pollInterval = 10 * time.Millisecond

// Eventually calls check until it returns nil. It fails the test with the last error after the given time. check runs
// on the test's goroutine, at least once.
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
			t.Fatalf("the condition was not met within %s: %v", within, err)
		}
		select {
		case <-ticker.C:
		case <-t.Context().Done():
			t.Fatalf("the condition was not met when the test ended: %v", err)
		}
	}
}
