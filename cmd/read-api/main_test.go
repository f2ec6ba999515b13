package main

import (
	"bufio"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"example.com/threads/cmd/internal/system"
	"example.com/threads/tests/programtest"
	"example.com/threads/tests/readmodeltest"
)

// start runs the program on a free port.
func start(t *testing.T, databaseURL string) *programtest.Running {
	t.Helper()
	return programtest.Start(t, run, map[string]string{"READ_API_ADDR": "127.0.0.1:0", "DATABASE_URL": databaseURL})
}

func TestTheProgram(t *testing.T) {
	readmodeltest.Each(t, func(t *testing.T, db *readmodeltest.Database) {
		p := start(t, db.URL)
		w := db.World(t, "acme")
		alice := readmodeltest.NewUser()
		chat := w.Thread("Lunch", alice)

		document := `{"query": "{ getThread(threadId: \"` + chat.String() + `\", userAccountId: \"` + alice.String() + `\") { name } }"}`
		answer := programtest.Post(t, p.URL+"/graphql", document, map[string]string{"X-Tenant-Code": "acme", "Consistency-Token": chat.String() + ":1"})
		if answer.Body != `{"data":{"getThread":{"name":"Lunch"}}}` || answer.Header.Get("X-Request-Id") == "" {
			t.Errorf("%+v", answer)
		}

		for path, want := range map[string]string{
			"/": "GraphiQL", "/graphiql/page.js": "subscription", "/health/alive": "alive", "/health/ready": "ready",
			"/metrics": `http_request_duration_seconds_count{method="POST",route="/graphql",status="200"} 1`,
		} {
			if got := programtest.Get(t, p.URL+path); got.Status != http.StatusOK || !strings.Contains(got.Body, want) {
				t.Errorf("%s: %d %.300s", path, got.Status, got.Body)
			}
		}
		if got := programtest.Get(t, p.URL+"/nothing"); got.Status != http.StatusNotFound {
			t.Errorf("nothing: %d", got.Status)
		}

		for _, c := range []struct {
			move int
			want int
		}{{1000, http.StatusOK}, {-2000, http.StatusServiceUnavailable}} { // the schema is newer, or older
			if _, err := db.DB.ExecContext(t.Context(), `UPDATE readmodel_migrations SET version_id = version_id + ?`, c.move); err != nil {
				t.Fatal(err)
			}
			if got := programtest.Get(t, p.URL+"/health/ready"); got.Status != c.want || strings.Contains(got.Body, "version") {
				t.Errorf("on a schema of another version: %d %s, want %d", got.Status, got.Body, c.want)
			}
		}
		if err := p.Stop(); err != nil {
			t.Errorf("stopped with %v", err)
		}
	}, system.Schemas()...)
}

// While a read model is filled for the first time, it lacks existing data, so clients would get a wrong NOT_FOUND.
func TestReadyOnceTheReadModelHasCaughtUp(t *testing.T) {
	readmodeltest.Each(t, func(t *testing.T, db *readmodeltest.Database) {
		db.CaughtUp(t, false)
		p := start(t, db.URL)
		ready := func() (status int, body string) {
			got := programtest.Get(t, p.URL+"/health/ready")
			return got.Status, got.Body
		}
		status, body := ready()
		for _, want := range []string{`"read_model":"failed"`, "has not caught up", `"behind_seconds":1.5`, `"behind_records":7`, `"behind_at_least":false`} {
			if status != http.StatusServiceUnavailable || !strings.Contains(body, want) {
				t.Errorf("while it is filled: %d %s, want 503 with %s", status, body, want)
			}
		}
		db.CaughtUp(t, true)
		if status, body = ready(); status != http.StatusOK || !strings.Contains(body, `"behind_records":7`) {
			t.Errorf("when it has caught up: %d %s", status, body)
		}
		if _, err := db.DB.ExecContext(t.Context(), "DELETE FROM projection_reports"); err != nil {
			t.Fatal(err)
		}
		if status, body = ready(); status != http.StatusServiceUnavailable || !strings.Contains(body, "no read-model-updater has reported yet") {
			t.Errorf("on new tables: %d %s", status, body)
		}
	}, system.Schemas()...)
}

func TestEveryAnswerIsGuarded(t *testing.T) {
	p := start(t, readmodeltest.SQLite(t, system.Schemas()...).URL)
	for path, status := range map[string]int{
		"/health/alive": http.StatusOK, "/health/ready": http.StatusOK, "/metrics": http.StatusOK,
		"/graphql": http.StatusBadRequest, "/nothing": http.StatusNotFound, "/graphiql/nothing": http.StatusNotFound,
	} {
		got := programtest.Get(t, p.URL+path)
		if got.Status != status {
			t.Errorf("%s: %d, want %d", path, got.Status, status)
		}
		got.CheckGuarded(t, path)
	}
	for _, body := range []string{`{"query": "{ __typename }"}`, `{"query": "{ nothing }"}`, `{`} {
		for _, accept := range []string{"application/json", "text/event-stream"} {
			programtest.Post(t, p.URL+"/graphql", body, map[string]string{"Accept": accept}).CheckGuarded(t, body+" as "+accept)
		}
	}
	programtest.Post(t, p.URL+"/metrics", "", nil).CheckGuarded(t, "POST /metrics")
	got := programtest.Ask(t, http.MethodPut, p.URL+"/graphql", "", nil)
	if got.Status != http.StatusMethodNotAllowed || got.Header.Get("Allow") != "GET, HEAD, POST" || !strings.Contains(got.Body, "method_not_allowed") {
		t.Errorf("PUT: %+v", got)
	}

	for _, path := range []string{"/", "/graphiql/graphiql.js"} { // cacheable, and revalidated
		got := programtest.Get(t, p.URL+path)
		if got.Status != http.StatusOK || got.Header.Get("X-Content-Type-Options") != "nosniff" || got.Header.Get("Cache-Control") != "no-cache" {
			t.Errorf("%s: %d %v", path, got.Status, got.Header)
		}
	}
}

func TestStreamsDoNotHoldUpAStop(t *testing.T) {
	db := readmodeltest.SQLite(t, system.Schemas()...)
	p := start(t, db.URL)
	alice := readmodeltest.NewUser()
	chat := db.World(t, "").Thread("Lunch", alice)
	document := `{"query": "subscription { threadChanged(threadId: \"` + chat.String() + `\", userAccountId: \"` + alice.String() + `\") { name } }"}`
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, p.URL+"/graphql", strings.NewReader(document))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "text/event-stream")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	lines := bufio.NewScanner(response.Body)
	for lines.Scan() && !strings.Contains(lines.Text(), "Lunch") {
	}
	started := time.Now()
	if err := p.Stop(); err != nil || time.Since(started) > 5*time.Second {
		t.Errorf("stopped after %s with %v", time.Since(started), err)
	}
}

func TestWhatKeepsItFromStarting(t *testing.T) {
	db := readmodeltest.SQLite(t, system.Schemas()...)
	p := start(t, db.URL)
	good := map[string]string{"READ_API_ADDR": "127.0.0.1:0", "DATABASE_URL": db.URL}
	for variable, test := range map[string]struct{ value, want string }{
		"READ_API_ADDR": {strings.TrimPrefix(p.URL, "http://"), "set READ_API_ADDR to another address"},
		"DATABASE_URL":  {"user:hunter2@tcp(127.0.0.1:1)/x", "DATABASE_URL: no answer from the database server"},
	} {
		getenv := func(name string) string {
			if name == variable {
				return test.value
			}
			return good[name]
		}
		err := run(t.Context(), nil, getenv, io.Discard)
		if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s=%s: %v", variable, test.value, err)
		}
	}
}
