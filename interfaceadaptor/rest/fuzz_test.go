package rest_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"example.com/threads/domain/thread"
	"example.com/threads/es"
	"example.com/threads/interfaceadaptor/rest"
)

// compliant is a service that accepts every command.
type compliant struct{}

func (compliant) Handle(context.Context, es.Request[thread.Command]) (es.Result, error) {
	return es.Result{Version: 1}, nil
}

func (compliant) Snapshot(context.Context, es.Caller, string) (uint64, error) { return 1, nil }

var fuzzedPaths = []string{
	"/threads/create", "/threads/rename", "/threads/delete", "/threads/add_member", "/threads/remove_member", "/threads/change_member_role",
	"/threads/post_message", "/threads/edit_message", "/threads/delete_message", "/threads/snapshot",
}

// expectUnderstood checks that the answer is JSON and not an internal error.
func expectUnderstood(t *testing.T, handler http.Handler, request *http.Request) {
	t.Helper()
	recorder := httptest.NewRecorder()
	handler.ServeHTTP(recorder, request)
	if recorder.Code >= 500 || !json.Valid(recorder.Body.Bytes()) {
		t.Errorf("%s: %d %s", request.URL.Path, recorder.Code, recorder.Body)
	}
}

func FuzzEveryBody(f *testing.F) {
	const id = "01ARZ3NDEKTSV4RRFFQ69G5FAV"
	for i, body := range []string{
		`{"executor_id":"` + id + `","name":"tea"}`, `{"executor_id":{"value":"` + id + `"},"thread_id":"` + id + `","name":"\ud83d\ude00"}`,
		`{"executor_id":"` + id + `","thread_id":"` + id + `","user_account_id":"` + id + `","role":"Admin"}`, `{"a":1,"a":2}`, `[]`, `{"name":"\ud83d"}`, "",
	} {
		f.Add(i, body)
	}
	handler := handlerOf([]rest.Aggregate{rest.Threads(compliant{})}, io.Discard)
	f.Fuzz(func(t *testing.T, path int, body string) {
		request := httptest.NewRequestWithContext(t.Context(), http.MethodPost, fuzzedPaths[uint(path)%uint(len(fuzzedPaths))], strings.NewReader(body))
		request.Header.Set("Content-Type", "application/json")
		expectUnderstood(t, handler, request)
	})
}

func FuzzHeaders(f *testing.F) {
	f.Add("acme", "key", `"7"`, "id", "conversation", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", "application/json", "Bearer x")
	f.Add("", "", "", "", "", "", "application/json; charset=utf-8", "")
	handler := handlerOf([]rest.Aggregate{rest.Threads(compliant{})}, io.Discard)
	f.Fuzz(func(t *testing.T, tenant, key, match, id, correlation, trace, media, authorization string) {
		body := strings.NewReader(`{"executor_id":"01ARZ3NDEKTSV4RRFFQ69G5FAV","name":"tea"}`)
		request := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/threads/create", body)
		for name, value := range map[string]string{
			"X-Tenant-Code": tenant, "Idempotency-Key": key, "If-Match": match, "X-Request-Id": id, "X-Correlation-Id": correlation,
			"Traceparent": trace, "Content-Type": media, "Authorization": authorization,
		} {
			request.Header.Set(name, value)
		}
		expectUnderstood(t, handler, request)
	})
}
