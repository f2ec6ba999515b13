package main

import (
	"fmt"
	"net/http"
	"testing"
)

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
