package metrics_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"example.com/threads/infrastructure/metrics"
)

func TestRequestsAreMeasuredByRoute(t *testing.T) {
	registry := metrics.NewRegistry()
	mux := http.NewServeMux()
	mux.HandleFunc("POST /things/{id}", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusCreated) })
	mux.HandleFunc("GET /stream", func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Content-Type", "text/event-stream") })
	handler := metrics.HTTP(registry, func(r *http.Request) string { return r.Pattern })(mux)
	for _, request := range []struct{ method, path string }{{"POST", "/things/1"}, {"POST", "/things/2"}, {"BREW", "/nowhere"}, {"GET", "/stream"}} {
		handler.ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(t.Context(), request.method, request.path, nil))
	}

	page := httptest.NewRecorder()
	metrics.Handler(registry).ServeHTTP(page, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", nil))
	for _, want := range []string{
		`http_request_duration_seconds_count{method="POST",route="POST /things/{id}",status="201"} 2`,
		`http_request_duration_seconds_count{method="other",route="other",status="404"} 1`,
		"go_goroutines",
	} {
		if !strings.Contains(page.Body.String(), want) {
			t.Errorf("%s is missing from\n%s", want, page.Body)
		}
	}
	if strings.Contains(page.Body.String(), `route="GET /stream"`) {
		t.Error("a stream was measured")
	}
}
