package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"example.com/threads/es/database"
)

// environment returns an environment with free ports and a folder of its own.
func environment(t *testing.T) map[string]string {
	return map[string]string{
		"DATA_DIR": filepath.Join(t.TempDir(), "data"), "WRITE_API_ADDR": "127.0.0.1:0", "READ_API_ADDR": "127.0.0.1:0", "UPDATER_ADDR": "127.0.0.1:0",
		"WEB_ADDR": "127.0.0.1:0", "READ_WAIT_TIMEOUT": "8s", "STORE_TIMEOUT": "12s", // beside all other tests
	}
}

func getenv(env map[string]string) func(string) string {
	return func(name string) string { return env[name] }
}

// startAndStop runs the program until it has printed its banner, and returns the output.
func startAndStop(t *testing.T, env map[string]string) (string, error) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	said, pipe := io.Pipe()
	done := make(chan error, 1)
	go func() {
		done <- run(ctx, nil, getenv(env), pipe)
		_ = pipe.Close()
	}()
	var text bytes.Buffer
	buffer := make([]byte, 4096)
	for {
		n, err := said.Read(buffer)
		text.Write(buffer[:n])
		if strings.Contains(text.String(), "createdAt") {
			stop()
		}
		if err != nil {
			return text.String(), <-done
		}
	}
}

func TestItGreetsAndStops(t *testing.T) {
	env := environment(t)
	begun := time.Now()
	said, err := startAndStop(t, env)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("started and stopped in %s", time.Since(begun))
	for _, want := range []string{"Ctrl-C", env["DATA_DIR"], "/docs", "/graphql", "/health/ready", "curl"} {
		if !strings.Contains(said, want) {
			t.Errorf("no %s in %s", want, said)
		}
	}
	for _, name := range []string{"events.db", "readmodel.db"} {
		if _, err := os.Stat(filepath.Join(env["DATA_DIR"], name)); err != nil {
			t.Error(err)
		}
	}
}

// Both files must be in the folder, for any name of the folder, and no file anywhere else.
func TestTheFilesAreInTheFolder(t *testing.T) {
	parent := t.TempDir()
	env := environment(t)
	env["DATA_DIR"] = filepath.Join(parent, "50%41 #1?")
	if said, err := startAndStop(t, env); err != nil || !strings.Contains(said, env["DATA_DIR"]) {
		t.Fatalf("%v, and it said %s", err, said)
	}
	expectEntries(t, parent, "50%41 #1?")
	expectEntries(t, env["DATA_DIR"], "events.db", "readmodel.db", "standalone.lock")
}

func expectEntries(t *testing.T, folder string, want ...string) {
	t.Helper()
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, entry := range entries {
		got = append(got, entry.Name())
	}
	if !slices.Equal(got, want) {
		t.Errorf("in %s are %q, want %q", folder, got, want)
	}
}

func TestWhatKeepsItFromStarting(t *testing.T) {
	for about, c := range map[string]struct {
		prepare func(t *testing.T, env map[string]string)
		want    string
	}{
		"a port in use": {
			func(t *testing.T, env map[string]string) {
				listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { _ = listener.Close() })
				env["READ_API_ADDR"] = listener.Addr().String()
			},
			"set READ_API_ADDR to another address",
		},
		"a folder that can't be made": {
			func(_ *testing.T, env map[string]string) { env["DATA_DIR"] = "/dev/null/data" },
			"set DATA_DIR to another folder",
		},
		"a file that is no database": {
			func(t *testing.T, env map[string]string) {
				if _, err := startAndStop(t, env); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(filepath.Join(env["DATA_DIR"], "events.db"), bytes.Repeat([]byte("no database "), 1000), 0o600); err != nil {
					t.Fatal(err)
				}
			},
			"events.db",
		},
	} {
		t.Run(about, func(t *testing.T) {
			env := environment(t)
			c.prepare(t, env)
			if _, err := startAndStop(t, env); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v", err)
			}
		})
	}
}

// After a roll-back, a program works on files that a newer release has migrated.
func TestItStartsOnFilesOfANewerRelease(t *testing.T) {
	env := environment(t)
	if _, err := startAndStop(t, env); err != nil {
		t.Fatal(err)
	}
	makeNewer(t, env, "events.db", "eventstore_migrations")
	makeNewer(t, env, "readmodel.db", "readmodel_migrations")
	if _, err := startAndStop(t, env); err != nil {
		t.Error(err)
	}
}

// makeNewer has a file say that a release has migrated it that does not exist yet.
func makeNewer(t *testing.T, env map[string]string, file, table string) {
	t.Helper()
	db, err := database.Open(t.Context(), "sqlite:"+filepath.Join(env["DATA_DIR"], file), database.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = db.ExecContext(t.Context(), "UPDATE "+table+" SET version_id = version_id + 1000")
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
}
