// extra:whole

package main

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

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

// query sends a query, which waits until the read model has the token's version.
func (r *running) query(t *testing.T, token, document string) string {
	t.Helper()
	return strings.TrimSpace(r.ask(t, "", document, "Consistency-Token", token).raw)
}

// An account is registered, creates a thread and posts a message; readers see its name.
func TestTheStoryOfAnAccountAndAThread(t *testing.T) {
	r := start(t, nil)
	account := r.post(t, "/accounts/register", fmt.Sprintf(`{"executor_id":%q,"name":"Ada"}`, ada), http.StatusCreated)
	id := r.post(t, "/threads/create", fmt.Sprintf(`{"executor_id":%q,"name":"tea"}`, ada), http.StatusCreated).text("thread_id")
	posted := r.post(t, "/threads/post_message", fmt.Sprintf(`{"executor_id":%q,"thread_id":%q,"text":"hello"}`, ada, id), http.StatusOK)
	got := r.query(t, account.token()+","+posted.token(), fmt.Sprintf(`{ getMessages(threadId: %q, userAccountId: %q) { text sender { name } } }`, id, ada))
	if want := `{"data":{"getMessages":[{"text":"hello","sender":{"name":"Ada"}}]}}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
