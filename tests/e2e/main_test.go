package e2e

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// binaries is the folder of the programs under test.
var binaries string

func TestMain(m *testing.M) {
	os.Exit(func() int {
		folder, err := os.MkdirTemp("", "threads-e2e-")
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer func() { _ = os.RemoveAll(folder) }()
		if os.Getenv(writeAPIVar) == "" {
			if err := build(folder); err != nil {
				fmt.Fprintln(os.Stderr, err)
				return 1
			}
		}
		binaries = folder
		return m.Run()
	}())
}

func build(folder string) error {
	root, err := filepath.Abs("../..")
	if err != nil {
		return err
	}
	command := exec.CommandContext(context.Background(), "go", "build", "-o", folder,
		"./cmd/write-api", "./cmd/read-api", "./cmd/read-model-updater", "./cmd/standalone", "./tools/dynamodb-setup", "./rdb-migration/cmd/migrate")
	command.Dir = root
	if output, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("build the programs: %w\n%s", err, output)
	}
	return nil
}
