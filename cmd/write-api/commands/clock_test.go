package commands_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"example.com/threads/cmd/internal/system"
	"example.com/threads/cmd/write-api/commands"
	"example.com/threads/es/database"
	"example.com/threads/es/estest/testenv"
	"example.com/threads/es/migration"
	"example.com/threads/es/sqlstore"
	"example.com/threads/infrastructure/config"
	"example.com/threads/infrastructure/eventstore"
	"example.com/threads/infrastructure/eventstore/dynamo"
	"example.com/threads/tests/programtest"
)

const soon = time.Minute

// TestAClockFarFromTheStores runs the write side with right and wrong clocks, compared with those of the real DynamoDB
// Local and MariaDB or MySQL.
func TestAClockFarFromTheStores(t *testing.T) {
	for kind, environment := range map[string]func(*testing.T) map[string]string{"dynamodb": programtest.OnDynamoDB, "mysql": onMySQL} {
		t.Run(kind, func(t *testing.T) {
			env := environment(t)
			for _, test := range []struct {
				ahead time.Duration
				wrong bool
			}{{0, false}, {4 * time.Minute, false}, {-4 * time.Minute, false}, {6 * time.Minute, true}, {-6 * time.Minute, true}} {
				t.Run(test.ahead.String(), func(t *testing.T) {
					url := serve(t, env, func() time.Time { return time.Now().Add(test.ahead) })
					command, ready := http.StatusCreated, http.StatusOK
					if test.wrong {
						command, ready = http.StatusServiceUnavailable, http.StatusServiceUnavailable
					}
					testenv.Eventually(t, soon, func() error { // on a busy machine the first comparison may be inexact
						health := programtest.Get(t, url+"/health/ready")
						if health.Status != ready || strings.Contains(health.Body, `"clock":"failed"`) != test.wrong || !strings.Contains(health.Body, `"store":"ok"`) {
							return fmt.Errorf("ready: %+v", health)
						}
						return nil
					})
					created := programtest.Post(t, url+"/threads/create", `{"executor_id":"01H42K4ABWQ5V2XQEP3A48VE0Z","name":"tea"}`, nil)
					if created.Status != command || test.wrong && !strings.Contains(created.Body, `"store_unavailable"`) {
						t.Errorf("the command was answered with %+v", created)
					}
					if measured := programtest.Get(t, url+"/metrics").Body; !strings.Contains(measured, "\nclock_ahead_seconds ") {
						t.Error("the difference of the clocks is not in the metrics")
					}
				})
			}
		})
	}
}

// serve runs the write side until the test ends, and returns its URL.
func serve(t *testing.T, env map[string]string, clock func() time.Time) (url string) {
	t.Helper()
	type settings struct {
		store    eventstore.Settings
		commands commands.Settings
		system   system.Settings
	}
	s, err := config.Read(func(name string) string { return env[name] }, func(r *config.Reader) (s settings) {
		s = settings{eventstore.ReadSettings(r), commands.ReadSettings(r), system.ReadSettings(r, "error", "json")}
		s.store.ReadClock(r)
		return s
	})
	if err != nil {
		t.Fatal(err)
	}
	parts := system.New(s.system, io.Discard)
	if err := parts.Open(t.Context(), "test", s.system); err != nil { // extra:access|observe {
		t.Fatal(err)
	}
	t.Cleanup(parts.Close) // extra:access|observe }
	store, err := dynamo.OpenAny(t.Context(), s.store, parts.Log, nil)
	if err != nil {
		t.Fatal(err)
	}
	store.Clock.Clock = clock
	server, err := commands.Listen(t.Context(), "127.0.0.1:0", s.commands, store, parts)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- server.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if err := store.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	return server.URL()
}

func onMySQL(t *testing.T) map[string]string {
	url := testenv.MySQL(t)
	db, err := database.Open(t.Context(), url, database.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	if _, err := migration.Up(t.Context(), db, sqlstore.Schema()); err != nil {
		t.Fatal(err)
	}
	return map[string]string{"EVENT_STORE": "mysql", "EVENT_STORE_URL": url}
}
