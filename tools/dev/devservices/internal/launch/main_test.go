package launch_test

import (
	"os"
	"testing"
	"time"

	"example.com/threads/tools/dev/devservices/internal/launch"
)

const guardWord = "guard"

// TestMain lets this test binary be the guard, too.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == guardWord {
		os.Exit(launch.Guard(os.Args[2:], os.Stdin))
	}
	os.Exit(m.Run())
}

func guard() []string { return []string{os.Args[0], guardWord} }

// eventually calls check until it returns nil, and fails the test with its last error after the given time.
func eventually(t *testing.T, within time.Duration, check func() error) {
	t.Helper()
	deadline := time.Now().Add(within)
	ticker := time.NewTicker(10 * time.Millisecond)
	defer ticker.Stop()
	for {
		err := check()
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("not true within %s: %v", within, err)
		}
		<-ticker.C
	}
}
