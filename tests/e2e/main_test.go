package e2e

import (
	"flag"
	"fmt"
	"os"
	"testing"

	"example.com/threads/es/estest/testenv"
	"example.com/threads/tests/programs"
)

// binaries is the folder of the programs under test.
var binaries string

func TestMain(m *testing.M) {
	if flag.Parse(); testing.Short() {
		fmt.Println("left out by -short: it runs whole programs")
		return
	}
	os.Exit(func() int {
		folder, err := os.MkdirTemp("", "threads-e2e-")
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer func() { _ = os.RemoveAll(folder) }()
		if os.Getenv(writeAPIVar) == "" {
			if err := programs.Build(folder, "../../cmd/...", "../../tools/dynamodb-setup", "../../rdb-migration/cmd/migrate"); err != nil {
				fmt.Fprintln(os.Stderr, err)
				return 1
			}
		}
		binaries = folder
		return testenv.Run(m)
	}())
}
