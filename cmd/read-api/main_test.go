package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"example.com/threads/cmd/internal/program"
	"example.com/threads/tests/readmodeltest"
)

// start runs the program on a free port and returns its URL and a way to stop it, which returns what run returned.
func start(t *testing.T, databaseURL string) (url string, stop func() error) {
	t.Helper()
	environment := map[string]string{"READ_API_ADDR": "127.0.0.1:0", "DATABASE_URL": databaseURL}
	ctx, cancel := context.WithCancel(t.Context())
	out, in := io.Pipe()
	done := make(chan error, 1)
	go func() {
		done <- run(ctx, nil, func(name string) string { return environment[name] }, in)
		_ = in.Close()
	}()
	stop = func() error {
		cancel()
		select {
		case err := <-done:
			done <- err
			return err
		case <-time.After(15 * time.Second):
			return errors.New("it does not stop")
		}
	}
	t.Cleanup(func() { _ = stop() })
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		var line struct{ Msg, URL string }
		if err := json.Unmarshal(lines.Bytes(), &line); err != nil {
			t.Fatalf("%s: %v", lines.Text(), err)
		}
		if line.Msg == "listening" {
			go func() { _, _ = io.Copy(io.Discard, out) }()
			return line.URL, stop
		}
	}
	t.Fatalf("it does not listen: %v", <-done)
	return "", nil
}

func get(t *testing.T, url string) (int, string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(body)
}

func TestTheProgram(t *testing.T) {
	readmodeltest.Each(t, func(t *testing.T, db *readmodeltest.Database) {
		url, stop := start(t, db.URL)
		w := db.World(t, "acme")
		alice := readmodeltest.NewUser()
		chat := w.Thread("Lunch", alice)

		document := `{"query": "{ getThread(threadId: \"` + chat.String() + `\", userAccountId: \"` + alice.String() + `\") { name } }"}`
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url+"/graphql", strings.NewReader(document))
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Content-Type", "application/json")
		request.Header.Set("X-Tenant-Code", "acme")
		request.Header.Set("Consistency-Token", chat.String()+":1")
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		body, err := io.ReadAll(response.Body)
		if err != nil || string(body) != `{"data":{"getThread":{"name":"Lunch"}}}` {
			t.Errorf("%s, %v", body, err)
		}
		if response.Header.Get("X-Request-Id") == "" {
			t.Error("no request id")
		}

		for path, want := range map[string]string{
			"/": "GraphiQL", "/graphiql/page.js": "subscription", "/health/alive": "alive", "/health/ready": "ready",
			"/metrics": `http_request_duration_seconds_count{method="POST",route="/graphql",status="200"} 1`,
		} {
			if status, body := get(t, url+path); status != http.StatusOK || !strings.Contains(body, want) {
				t.Errorf("%s: %d %.300s", path, status, body)
			}
		}
		if status, _ := get(t, url+"/nothing"); status != http.StatusNotFound {
			t.Errorf("nothing: %d", status)
		}

		if _, err := db.DB.ExecContext(t.Context(), `UPDATE readmodel_migrations SET version_id = version_id + 1000`); err != nil {
			t.Fatal(err)
		}
		if status, body := get(t, url+"/health/ready"); status != http.StatusServiceUnavailable || strings.Contains(body, "version") {
			t.Errorf("on a schema of another program: %d %s", status, body)
		}
		if err := stop(); err != nil {
			t.Errorf("stopped with %v", err)
		}
	})
}

func TestStreamsDoNotHoldUpAStop(t *testing.T) {
	db := readmodeltest.SQLite(t)
	url, stop := start(t, db.URL)
	alice := readmodeltest.NewUser()
	chat := db.World(t, "").Thread("Lunch", alice)
	document := `{"query": "subscription { threadChanged(threadId: \"` + chat.String() + `\", userAccountId: \"` + alice.String() + `\") { name } }"}`
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url+"/graphql", strings.NewReader(document))
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
	if err := stop(); err != nil || time.Since(started) > 5*time.Second {
		t.Errorf("stopped after %s with %v", time.Since(started), err)
	}
}

func TestHelpNamesEveryVariable(t *testing.T) {
	var out strings.Builder
	read := map[string]bool{}
	if _, err := readSettings(func(name string) string { read[name] = true; return "" }); err == nil || !strings.Contains(err.Error(), "DATABASE_URL is not set") {
		t.Errorf("without a database: %v", err)
	}
	if err := run(t.Context(), []string{"--help"}, nil, &out); err != nil {
		t.Fatal(err)
	}
	told := map[string]bool{}
	for _, match := range regexp.MustCompile(`(?m)^  ([A-Z_]+) `).FindAllStringSubmatch(out.String(), -1) {
		told[match[1]] = true
	}
	for name := range read {
		if !told[name] {
			t.Errorf("--help does not tell about %s", name)
		}
	}
	for name := range told {
		if !read[name] {
			t.Errorf("--help tells about %s, which nobody reads", name)
		}
	}
}

func TestWhatKeepsItFromStarting(t *testing.T) {
	db := readmodeltest.SQLite(t)
	url, _ := start(t, db.URL)
	good := map[string]string{"READ_API_ADDR": "127.0.0.1:0", "DATABASE_URL": db.URL}
	for variable, test := range map[string]struct{ value, want string }{
		"READ_API_ADDR":          {strings.TrimPrefix(url, "http://"), "set READ_API_ADDR to another address"},
		"DATABASE_URL":           {"user:hunter2@tcp(127.0.0.1:1)/x", "DATABASE_URL: no answer from the database server"},
		"READ_WAIT_TIMEOUT":      {"2", "READ_WAIT_TIMEOUT is"},
		"QUERY_COMPLEXITY_LIMIT": {"0", "QUERY_COMPLEXITY_LIMIT is"},
		"LOG_LEVEL":              {"loud", "LOG_LEVEL: "},
		"LOG_FORMAT":             {"xml", "LOG_FORMAT: "},
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
	for _, args := range [][]string{{"serve"}, {"--port", "1"}} {
		if err := run(t.Context(), args, nil, io.Discard); !errors.Is(err, program.ErrUsage) {
			t.Errorf("%v: %v", args, err)
		}
	}
}
