package clients

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"example.com/threads/es/estest/testenv"
	"example.com/threads/tests/programs"
)

// binaries is the folder of the programs under test.
var binaries string

func TestMain(m *testing.M) {
	if flag.Parse(); testing.Short() {
		fmt.Println("left out by -short: it runs whole programs and clients in Node")
		return
	}
	os.Exit(func() int {
		folder, err := os.MkdirTemp("", "threads-clients-")
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer func() { _ = os.RemoveAll(folder) }()
		if err := programs.Build(folder,
			"../../cmd/write-api", "../../cmd/read-api", "../../cmd/read-model-updater", "../../cmd/standalone", "../../cmd/web", "../../rdb-migration/cmd/migrate",
			"../../tools/dynamodb-setup", "../../cmd/threadctl"); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		binaries = folder
		return testenv.Run(m)
	}())
}

// system is the three programs on SQLite files of their own.
type system struct{ write, updater, read *programs.Program }

func start(t *testing.T) *system { return startWith(t) }

// startWith starts them with additional variables.
func startWith(t *testing.T, more ...string) *system {
	t.Helper()
	folder := t.TempDir()
	env := []string{
		"LOG_LEVEL=warn",
		"EVENT_STORE=sqlite",
		"EVENT_STORE_URL=sqlite:" + filepath.Join(folder, "events.db"),
		"DATABASE_URL=sqlite:" + filepath.Join(folder, "readmodel.db"),
	}
	migrate := exec.CommandContext(t.Context(), filepath.Join(binaries, "migrate"), "up")
	migrate.Env = env
	if output, err := migrate.CombinedOutput(); err != nil {
		t.Fatalf("migrate: %v\n%s", err, output)
	}
	env = append(env, more...)
	s := &system{
		write:   programs.New(t, binaries, "write-api", env, "WRITE_API_ADDR"),
		updater: programs.New(t, binaries, "read-model-updater", env, "UPDATER_ADDR"),
		read:    programs.New(t, binaries, "read-api", env, "READ_API_ADDR"),
	}
	for _, p := range []*programs.Program{s.write, s.updater, s.read} {
		p.Start(t)
	}
	return s
}
