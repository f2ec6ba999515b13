package rest_test

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"example.com/threads/domain/thread"
)

// reached is the error code of a request that reached the service.
const reached = "thread_not_found"

var willing = failing(thread.ErrThreadNotFound)

func TestHeaders(t *testing.T) {
	handler := handlerOf(willing, io.Discard)
	body := fields{"executor_id": ada, "thread_id": nobody, "name": "x"}
	for _, test := range []struct {
		name, value string
		usable      bool
	}{
		{"X-Tenant-Code", "acme-1", true},
		{"X-Tenant-Code", strings.Repeat("a", 32), true},
		{"X-Tenant-Code", strings.Repeat("a", 33), false},
		{"X-Tenant-Code", "ACME", false},
		{"X-Tenant-Code", "a#b", false},
		{"X-Tenant-Code", "", false},
		{"Idempotency-Key", "!", true},
		{"Idempotency-Key", strings.Repeat("~", 128), true},
		{"Idempotency-Key", strings.Repeat("~", 129), false},
		{"Idempotency-Key", "a b", false},
		{"Idempotency-Key", "ключ", false},
		{"Idempotency-Key", "", false},
		{"If-Match", `"1"`, true},
		{"If-Match", `"9223372036854775807"`, true},
		{"If-Match", `1`, false},
		{"If-Match", `"0"`, false},
		{"If-Match", `"01"`, false},
		{"If-Match", `"-1"`, false},
		{"If-Match", `W/"1"`, false},
		{"If-Match", `"1", "2"`, false},
		{"If-Match", `*`, false},
		{"If-Match", ``, false},
		{"If-Match", `"18446744073709551616"`, false},
		{"X-Correlation-Id", "order-1", true},
		{"X-Correlation-Id", "two words", false},
		{"X-Request-Id", "two words", true}, // replaced by a new one
		{"traceparent", "junk", true},       // ignored
	} {
		t.Run(test.name+" "+test.value, func(t *testing.T) {
			a := post(t, handler, "/threads/rename", body, headers{test.name: test.value})
			if test.usable {
				a.problem(t, http.StatusNotFound, reached)
				return
			}
			a.problem(t, http.StatusBadRequest, "malformed_request")
			if !strings.Contains(a.text("detail"), test.name) {
				t.Errorf("the header is not named: %s", a.raw)
			}
		})
	}
}

func TestAHeaderIsSentOnce(t *testing.T) {
	handler := handlerOf(willing, io.Discard)
	for _, name := range []string{"X-Tenant-Code", "Idempotency-Key", "If-Match", "X-Correlation-Id"} {
		request := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/threads/delete", nil)
		request.Header[http.CanonicalHeaderKey(name)] = []string{`"1"`, `"1"`}
		send(t, handler, request).problem(t, http.StatusBadRequest, "malformed_request")
	}
}

func TestAConditionThatCannotBeCheckedIsRefused(t *testing.T) {
	handler := handlerOf(willing, io.Discard)
	for path, body := range map[string]fields{
		"/threads/create":   {"executor_id": ada, "name": "x"},
		"/threads/snapshot": {"executor_id": ada, "thread_id": nobody},
	} {
		post(t, handler, path, body, headers{"If-Match": `"1"`}).problem(t, http.StatusBadRequest, "malformed_request")
	}
}

func TestMediaTypes(t *testing.T) {
	handler := handlerOf(willing, io.Discard)
	for contentType, status := range map[string]int{
		"application/json":                         http.StatusNotFound,
		"application/json; charset=utf-8":          http.StatusNotFound,
		`Application/JSON; charset="UTF-8"`:        http.StatusNotFound,
		"application/json; charset=iso-8859-1":     http.StatusUnsupportedMediaType,
		"application/json;;":                       http.StatusUnsupportedMediaType,
		"application/x-www-form-urlencoded":        http.StatusUnsupportedMediaType,
		"text/json":                                http.StatusUnsupportedMediaType,
		"application/vnd.api+json":                 http.StatusUnsupportedMediaType,
		"":                                         http.StatusUnsupportedMediaType,
		"application/json, application/json":       http.StatusUnsupportedMediaType,
		"multipart/form-data; boundary=----------": http.StatusUnsupportedMediaType,
	} {
		a := post(t, handler, "/threads/delete", fields{"executor_id": ada, "thread_id": nobody}, headers{"Content-Type": contentType})
		code := map[int]string{http.StatusNotFound: reached, http.StatusUnsupportedMediaType: "unsupported_media_type"}[status]
		a.problem(t, status, code)
	}
	a := post(t, handler, "/threads/delete", fields{}, headers{"Content-Encoding": "gzip"})
	a.problem(t, http.StatusUnsupportedMediaType, "unsupported_media_type")
}

// TestSize uses a real connection, with a length and in chunks.
func TestSize(t *testing.T) {
	server := httptest.NewServer(handlerOf(willing, io.Discard))
	defer server.Close()
	whole := `{"executor_id":"` + ada + `","thread_id":"` + nobody + `"}`
	for _, test := range []struct {
		size    int
		chunked bool
		status  int
	}{
		{65536, false, http.StatusNotFound},
		{65537, false, http.StatusRequestEntityTooLarge},
		{65536, true, http.StatusNotFound},
		{65537, true, http.StatusRequestEntityTooLarge},
		{1 << 22, true, http.StatusRequestEntityTooLarge},
	} {
		var body io.Reader = bytes.NewReader([]byte(whole + strings.Repeat(" ", test.size-len(whole))))
		if test.chunked {
			body = io.MultiReader(body) // hides the length
		}
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL+"/threads/delete", body)
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Content-Type", "application/json")
		response, err := server.Client().Do(request)
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
		if response.StatusCode != test.status {
			t.Errorf("%d bytes, chunked %v: %d, want %d", test.size, test.chunked, response.StatusCode, test.status)
		}
	}
}
