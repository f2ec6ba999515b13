package launch_test

import (
	"os"
	"testing"

	"example.com/threads/tools/devservices/internal/launch"
)

const guardWord = "guard"

// TestMain lets this test binary be the guard as well.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == guardWord {
		os.Exit(launch.Guard(os.Args[2:], os.Stdin))
	}
	os.Exit(m.Run())
}

func guard() []string { return []string{os.Args[0], guardWord} }
