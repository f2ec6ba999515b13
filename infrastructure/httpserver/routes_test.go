package httpserver_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/go-chi/chi/v5"

	"example.com/threads/infrastructure/httpserver"
)

func TestWhatHasNoRouteIsAProblem(t *testing.T) {
	mux, nothing := chi.NewRouter(), func(http.ResponseWriter, *http.Request) {}
	mux.Get("/page", nothing)
	mux.Post("/command", nothing)
	mux.Get("/both", nothing)
	mux.Post("/both", nothing)
	handler := httpserver.WithProblems(mux, "the hint")
	for _, c := range []struct {
		method, path string
		status       int
		part, allow  string
	}{
		{http.MethodGet, "/nowhere", http.StatusNotFound, `"code":"path_not_found"`, ""},
		{http.MethodGet, "/page/../nowhere", http.StatusNotFound, `"status":404`, ""},
		{http.MethodPost, "/command/", http.StatusNotFound, `"title":"Not Found"`, ""},
		{"PRI", "/nowhere", http.StatusNotFound, "the hint", ""},
		{"PURGE", "/command", http.StatusMethodNotAllowed, `"code":"method_not_allowed"`, "POST"},
		{http.MethodOptions, "/page", http.StatusMethodNotAllowed, "GET, HEAD", "GET, HEAD"},
		{http.MethodPut, "/both", http.StatusMethodNotAllowed, `"status":405`, "GET, HEAD, POST"},
		{http.MethodHead, "/page", http.StatusOK, "", ""},
	} {
		got := httptest.NewRecorder()
		handler.ServeHTTP(got, httptest.NewRequestWithContext(t.Context(), c.method, c.path, nil))
		isProblem := got.Header().Get("Content-Type") == "application/problem+json"
		if got.Code != c.status || !strings.Contains(got.Body.String(), c.part) || got.Header().Get("Allow") != c.allow || isProblem != (c.status >= 400) {
			t.Errorf("%s %s: %d %v %s", c.method, c.path, got.Code, got.Header(), got.Body)
		}
	}
}
