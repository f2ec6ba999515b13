package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"example.com/threads/tests/testenv"
)

// running is the program, for stories that go through all of it.
type running struct{ write, read string }

// start runs the program on an empty folder until the test ends. It is ready when start returns.
func start(t *testing.T) running {
	t.Helper()
	env := environment(t)
	for _, variable := range []string{"WRITE_API_ADDR", "READ_API_ADDR"} {
		env[variable] = fmt.Sprintf("127.0.0.1:%d", testenv.FreePort(t))
	}
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- run(ctx, nil, getenv(env), io.Discard) }()
	t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	r := running{"http://" + env["WRITE_API_ADDR"], "http://" + env["READ_API_ADDR"]}
	for _, url := range []string{r.write, r.read} {
		testenv.Eventually(t, 10*time.Second, func() error { return ready(t, url+"/health/ready") })
	}
	return r
}

// answer is what the program says to a command.
type answer struct {
	body  map[string]any
	token string // for a query that has to see the command's effect
}

// post sends a command.
func (r running) post(t *testing.T, path, body string, status int) (a answer) {
	t.Helper()
	response, raw := send(t, r.write+path, "", body)
	if response.StatusCode != status {
		t.Fatalf("%s: %s, want %d: %s", path, response.Status, status, raw)
	}
	if err := json.Unmarshal([]byte(raw), &a.body); err != nil {
		t.Fatal(err)
	}
	a.token = response.Header.Get("Consistency-Token")
	return a
}

// query asks, once the read model has what the token names.
func (r running) query(t *testing.T, token, document string) string {
	t.Helper()
	body, err := json.Marshal(map[string]string{"query": document})
	if err != nil {
		t.Fatal(err)
	}
	_, raw := send(t, r.read+"/graphql", token, string(body))
	return strings.TrimSpace(raw)
}

func send(t *testing.T, url, token, body string) (*http.Response, string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	if token != "" {
		request.Header.Set("Consistency-Token", token)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	raw, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response, string(raw)
}

// Somebody registers an account, creates a thread and says something; readers see who it was.
func TestTheStoryOfAnAccountAndAThread(t *testing.T) {
	const ada = "01ARZ3NDEKTSV4RRFFQ69G5FAV"
	r := start(t)
	account := r.post(t, "/accounts/register", fmt.Sprintf(`{"executor_id":%q,"name":"Ada"}`, ada), http.StatusCreated)
	id := fmt.Sprint(r.post(t, "/threads/create", fmt.Sprintf(`{"executor_id":%q,"name":"tea"}`, ada), http.StatusCreated).body["thread_id"])
	posted := r.post(t, "/threads/post_message", fmt.Sprintf(`{"executor_id":%q,"thread_id":%q,"text":"hello"}`, ada, id), http.StatusOK)
	got := r.query(t, account.token+","+posted.token, fmt.Sprintf(`{ getMessages(threadId: %q, userAccountId: %q) { text sender { name } } }`, id, ada))
	if want := `{"data":{"getMessages":[{"text":"hello","sender":{"name":"Ada"}}]}}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
