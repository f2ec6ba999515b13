package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"example.com/threads/es/estest/testenv"
)

const ada = "01ARZ3NDEKTSV4RRFFQ69G5FAV" // a user account

// running is the program in the test's process.
type running struct {
	write, read, updater string // URLs
	web                  string // extra:page
	said                 *testenv.Log
	stop                 func() error
}

// start runs the program until the test ends, and returns when it is ready.
func start(t *testing.T, more map[string]string) *running {
	t.Helper()
	env := environment(t)
	address := func(name string) string {
		env[name] = fmt.Sprintf("127.0.0.1:%d", testenv.FreePort(t))
		return "http://" + env[name]
	}
	r := &running{write: address("WRITE_API_ADDR"), read: address("READ_API_ADDR"), updater: address("UPDATER_ADDR"), said: &testenv.Log{}}
	r.web = address("WEB_ADDR") // extra:page
	maps.Copy(env, more)
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- run(ctx, nil, getenv(env), r.said) }()
	r.stop = sync.OnceValue(func() error {
		stop()
		select {
		case err := <-done:
			return err
		case <-time.After(15 * time.Second):
			return errors.New("the program does not stop")
		}
	})
	t.Cleanup(func() {
		if err := r.stop(); err != nil {
			t.Error(err)
		}
		if t.Failed() {
			t.Log(r.said)
		}
	})
	ready := []string{r.write, r.read, r.updater}
	ready = append(ready, r.web) // extra:page
	for _, url := range ready {
		testenv.Eventually(t, 30*time.Second, func() error {
			got, err := send(t, http.MethodGet, url+"/health/ready", "", nil)
			if err == nil && got.status != http.StatusOK {
				err = fmt.Errorf("%s: %d %s", url, got.status, got.raw)
			}
			return err
		})
	}
	return r
}

// answer is a response.
type answer struct {
	status int
	header http.Header
	raw    string
	body   map[string]any
}

func (a answer) text(name string) string { text, _ := a.body[name].(string); return text }

// send sends a request; headers are names and values in turn.
func send(t *testing.T, method, url, body string, headers []string) (answer, error) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		return answer{}, err
	}
	if method == http.MethodPost {
		request.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return answer{}, err
	}
	defer func() { _ = response.Body.Close() }()
	raw, err := io.ReadAll(response.Body)
	got := answer{status: response.StatusCode, header: response.Header, raw: string(raw)}
	_ = json.Unmarshal(raw, &got.body) // pages are not JSON
	return got, err
}

// ask sends a query.
func (r *running) ask(t *testing.T, token, query string, headers ...string) answer {
	t.Helper()
	encoded, err := json.Marshal(map[string]string{"query": query})
	if err != nil {
		t.Fatal(err)
	}
	got, err := send(t, http.MethodPost, r.read+"/graphql", string(encoded), append(headers, authorization(token)...))
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func authorization(token string) []string {
	if token == "" {
		return nil
	}
	return []string{"Authorization", "Bearer " + token}
}

// post sends a command and checks the status of the answer.
func (r *running) post(t *testing.T, path, body string, status int) answer {
	t.Helper()
	got, err := send(t, http.MethodPost, r.write+path, body, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got.status != status {
		t.Fatalf("%s: %d, want %d: %s", path, got.status, status, got.raw)
	}
	return got
}

// token returns the token for a query that must see the command's effect.
func (a answer) token() string { return a.header.Get("Consistency-Token") }

// query sends a query, which waits until the read model has the token's version. If that does not come, the test ends
// with the reason first: the program's last warning.
func (r *running) query(t *testing.T, token, document string) string {
	t.Helper()
	got := r.ask(t, "", document, "Consistency-Token", token).raw
	if strings.Contains(got, "READ_MODEL_BEHIND") {
		why := "the program has warned of nothing"
		for line := range strings.Lines(r.said.String()) {
			if (strings.Contains(line, " level=WARN ") || strings.Contains(line, " level=ERROR ")) && !strings.Contains(line, `msg="not ready"`) {
				why = line
			}
		}
		t.Fatalf("%s\n%s", strings.TrimSpace(why), got)
	}
	return strings.TrimSpace(got)
}
