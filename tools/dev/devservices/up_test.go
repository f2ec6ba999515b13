package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"example.com/threads/tools/dev/devservices/internal/launch"
)

// TestDevelopmentSystem simulates what happens to the development system on a developer's machine.
func TestDevelopmentSystem(t *testing.T) {
	if testing.Short() {
		t.Skip("left out by -short: it runs whole programs")
	}
	system, said := newSystem(t)
	t.Cleanup(func() { // after any failure
		if err := system.down(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	up := func(started ...string) {
		t.Helper()
		*said = nil
		if err := system.up(t.Context()); err != nil {
			t.Fatal(err)
		}
		var starting []string
		for _, line := range *said {
			if name, found := strings.CutPrefix(line, "starting "); found {
				name, _, _ = strings.Cut(name, " ")
				starting = append(starting, name)
			}
		}
		if len(starting) > 1 && starting[1] == "dynamodb" { // the services start at the same time
			starting[0], starting[1] = starting[1], starting[0]
		}
		if !slices.Equal(starting, started) {
			t.Errorf("started %v, want %v", starting, started)
		}
	}
	up(
		"dynamodb", "mysql", "write-api", "read-model-updater", "read-api",
		"web", // extra:page
	)
	thread := system.createThread(t)
	system.expectThread(t, thread)
	up()

	for _, killed := range [][]string{{"write-api", "read-model-updater", "read-api"}, {"dynamodb", "mysql"}} {
		for _, name := range killed {
			system.kill(t, name)
		}
		up(killed...)
		system.expectThread(t, thread)
	}

	mySQL := filepath.Join(system.settings.folder, "mysql")
	system.kill(t, "mysql")
	if err := os.WriteFile(filepath.Join(mySQL, "data", "ibdata1"), bytes.Repeat([]byte("damaged"), 1<<16), 0o600); err != nil {
		t.Fatal(err)
	}
	*said = nil
	if err := system.up(t.Context()); err == nil || !strings.Contains(err.Error(), "rm -r "+mySQL) {
		t.Fatalf("with a damaged database: %v", err)
	}
	for range 2 { // while the system does not run, and while it does
		if err := os.RemoveAll(mySQL); err != nil {
			t.Fatal(err)
		}
		up("mysql", "read-model-updater")
		system.expectThread(t, thread)
	}

	if err := system.down(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, program := range append(system.services(), system.programs()...) {
		if launch.PortTaken(t.Context(), program.Port) {
			t.Errorf("%s still listens after down", program.Name)
		}
	}
}

// newSystem returns a system with a folder and ports of its own, and the messages of its progress.
func newSystem(t *testing.T) (_ devSystem, said *[]string) {
	t.Helper()
	own := map[string]string{}
	for _, name := range []string{"DEV_DYNAMODB_PORT", "DEV_MYSQL_PORT", "WRITE_API_ADDR", "UPDATER_ADDR", "READ_API_ADDR", "WEB_ADDR"} {
		port, err := freePort(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		own[name] = strconv.Itoa(port)
		if strings.HasSuffix(name, "ADDR") {
			own[name] = "127.0.0.1:" + own[name]
		}
	}
	settings, err := readSettings(clone, func(name string) string { return own[name] })
	if err != nil {
		t.Fatal(err)
	}
	settings.folder = t.TempDir()
	said = new([]string)
	var mu sync.Mutex
	return devSystem{settings, func(format string, args ...any) {
		mu.Lock()
		defer mu.Unlock()
		*said = append(*said, fmt.Sprintf(format, args...))
		t.Logf(format, args...)
	}}, said
}

func (s devSystem) kill(t *testing.T, name string) {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(s.settings.folder, name+".pid"))
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(content)))
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
}

const userAccount = "01H42K4ABWQ5V2XQEP3A48VE0Z"

func (s devSystem) createThread(t *testing.T) (id string) {
	t.Helper()
	var created struct {
		ThreadID string `json:"thread_id"`
	}
	s.post(t, "write-api", "/threads/create", "", map[string]string{"executor_id": userAccount, "name": "hello"}, &created)
	return created.ThreadID
}

// expectThread reads the thread from the read model.
func (s devSystem) expectThread(t *testing.T, id string) {
	t.Helper()
	query := fmt.Sprintf(`{ getThread(threadId: %q, userAccountId: %q) { name } }`, id, userAccount)
	var found struct {
		Data   struct{ GetThread struct{ Name string } }
		Errors any
	}
	deadline := time.Now().Add(30 * time.Second)
	for found.Data.GetThread.Name != "hello" {
		if time.Now().After(deadline) {
			t.Fatalf("the thread is not in the read model: %v", found.Errors)
		}
		found.Errors = nil
		s.post(t, "read-api", "/graphql", id+":1", map[string]string{"query": query}, &found) // waits up to 2 s
	}
}

func (s devSystem) post(t *testing.T, program, path, token string, body, answer any) {
	t.Helper()
	encoded, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	url := localURL(s.settings.addresses[program]) + path
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, bytes.NewReader(encoded))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Consistency-Token", token)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	if err := json.NewDecoder(response.Body).Decode(answer); err != nil || response.StatusCode/100 != 2 {
		t.Fatalf("POST %s: %s, %v", url, response.Status, err)
	}
}

// A service that can't start must not stop the search for the other one's programs, because installed programs would
// seem to be missing.
func TestOneThatFailsDoesNotStopTheOthers(t *testing.T) {
	system, _ := newSystem(t)
	failed := make(chan struct{})
	broken, sound := errors.New("broken"), errors.New("sound")
	err := system.ensureAll(t.Context(), []launch.Program{
		{Name: "a", Prepare: func(context.Context) ([]string, error) {
			defer close(failed)
			return nil, broken
		}},
		{Name: "b", Prepare: func(ctx context.Context) ([]string, error) {
			<-failed
			select {
			case <-ctx.Done():
				return nil, ctx.Err()
			case <-time.After(100 * time.Millisecond):
				return nil, sound
			}
		}},
	})
	if !errors.Is(err, broken) || !errors.Is(err, sound) {
		t.Errorf("error %v", err)
	}
}

func TestMigrateLeavesOutWhatIsNotTheEventStore(t *testing.T) {
	if testing.Short() {
		t.Skip("left out by -short: it needs DynamoDB")
	}
	const tables, schema = "migrating with ./tools/dynamodb-setup", "migrating with ./rdb-migration/cmd/migrate"
	endpoint := os.Getenv(dynamoDBVar)
	if endpoint == "" {
		t.Fatalf("%s is not set; run `make test`", dynamoDBVar)
	}
	for kind, want := range map[string][]string{
		"": {tables, schema}, "dynamodb": {tables, schema}, "sqlite": {schema},
	} {
		t.Run("EVENT_STORE="+kind, func(t *testing.T) {
			system, said := newSystem(t)
			file := func(name string) string { return "sqlite:" + filepath.Join(t.TempDir(), name) }
			name := "t_" + strings.ToLower(rand.Text()[:12])
			for variable, value := range map[string]string{
				"EVENT_STORE": kind, "EVENT_STORE_URL": file("events.db"), "DATABASE_URL": file("rows.db"),
				"AWS_REGION": "us-east-1", "AWS_ACCESS_KEY_ID": "local", "AWS_SECRET_ACCESS_KEY": "local",
				"AWS_ENDPOINT_URL_DYNAMODB": endpoint, "JOURNAL_TABLE": name + "_journal", "SNAPSHOT_TABLE": name + "_snapshot",
			} {
				t.Setenv(variable, value)
			}
			if kind == "sqlite" { // a user without AWS settings
				t.Setenv("AWS_ENDPOINT_URL_DYNAMODB", "http://127.0.0.1:1")
			}
			if err := system.migrate(t.Context()); err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(*said, want) {
				t.Errorf("did %q, want %q", *said, want)
			}
			system.expectMigrated(t, kind)
		})
	}
}

// expectMigrated checks with the migrating programs, in this process's environment.
func (s devSystem) expectMigrated(t *testing.T, eventStore string) {
	t.Helper()
	ask := func(program ...string) string {
		cmd := exec.CommandContext(t.Context(), "go", append([]string{"run"}, program...)...)
		cmd.Dir = clone
		output, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", cmd.Args, output)
		}
		return string(output)
	}
	found := ask("./rdb-migration/cmd/migrate", "up")
	if !strings.Contains(found, "read model: nothing to do") || strings.Contains(found, "applied") ||
		strings.Contains(found, "event store: nothing to do") != (eventStore == "sqlite") {
		t.Errorf("schema:\n%s", found)
	}
	if eventStore == "sqlite" {
		return
	}
	if found := ask("./tools/dynamodb-setup"); strings.Contains(found, "created") {
		t.Errorf("tables were missing:\n%s", found)
	}
}
