// extra:whole

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"example.com/threads/es/estest/testenv"
)

// An event store that is removed or emptied between two starts must not make the rows disappear.
func TestALostEventStoreLeavesTheRows(t *testing.T) {
	if testing.Short() {
		t.Skip("left out by -short: it waits for seconds")
	}
	for about, lose := range map[string]func(path string) error{
		"removed": os.Remove,
		"emptied": func(path string) error { return os.Truncate(path, 0) },
	} {
		for _, rebuild := range []string{"auto", "manual"} {
			t.Run(about+", REBUILD="+rebuild, func(t *testing.T) {
				folder := filepath.Join(t.TempDir(), "data")
				r := start(t, map[string]string{"DATA_DIR": folder})
				created := r.post(t, "/threads/create", fmt.Sprintf(`{"executor_id":%q,"name":"tea"}`, ada), http.StatusCreated)
				query := fmt.Sprintf(`{ getThreads(userAccountId: %q) { name } }`, ada)
				want := r.query(t, created.token(), query)
				if err := r.stop(); err != nil {
					t.Fatal(err)
				}
				if err := lose(filepath.Join(folder, eventsFile)); err != nil {
					t.Fatal(err)
				}

				env := environment(t)
				env["DATA_DIR"], env["REBUILD"] = folder, rebuild
				for _, name := range []string{"READ_API_ADDR", "UPDATER_ADDR"} {
					env[name] = fmt.Sprintf("127.0.0.1:%d", testenv.FreePort(t))
				}
				ctx, stop := context.WithCancel(t.Context())
				done := make(chan error, 1)
				go func() { done <- run(ctx, nil, getenv(env), io.Discard) }()
				health := "the rows of 1 aggregates or more are ahead of the journal"
				if rebuild == "auto" {
					health = "the event store is empty, or not that of the rows"
				}
				testenv.Eventually(t, 30*time.Second, func() error {
					got, err := send(t, http.MethodGet, "http://"+env["UPDATER_ADDR"]+"/health/ready", "", nil)
					if err == nil && (got.status != http.StatusServiceUnavailable || !strings.Contains(got.raw, health)) {
						err = fmt.Errorf("the health is %d %s", got.status, got.raw)
					}
					return err
				})
				body, err := json.Marshal(map[string]string{"query": query})
				if err != nil {
					t.Fatal(err)
				}
				got, err := send(t, http.MethodPost, "http://"+env["READ_API_ADDR"]+"/graphql", string(body), nil)
				if err != nil || strings.TrimSpace(got.raw) != want || !strings.Contains(want, "tea") {
					t.Errorf("the rows are %s, and were %s, %v", got.raw, want, err)
				}
				stop()
				if err := <-done; err != nil {
					t.Error(err)
				}
			})
		}
	}
}
