package httpserver_test

import (
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/go-chi/chi/v5"
	"github.com/prometheus/client_golang/prometheus"

	"example.com/threads/infrastructure/httpserver"
)

// measured serves handler, and measures the requests in the registry.
func measured(registry *prometheus.Registry, handler http.Handler) http.Handler {
	return httpserver.Wrap(slog.New(slog.DiscardHandler), nil, httpserver.NewDurations(registry), handler)
}

func TestRequestsAreMeasuredByRoute(t *testing.T) {
	registry := httpserver.NewRegistry()
	mux := chi.NewRouter()
	mux.HandleFunc("POST /things/{id}", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusCreated) })
	mux.HandleFunc("GET /stream", func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Content-Type", "text/event-stream") })
	handler := measured(registry, httpserver.WithProblems(mux, ""))
	for _, request := range []struct{ method, path string }{{"POST", "/things/1"}, {"POST", "/things/2"}, {"BREW", "/nowhere"}, {"GET", "/stream"}} {
		handler.ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(t.Context(), request.method, request.path, nil))
	}

	page := collect(t, registry)
	for _, want := range []string{
		`http_request_duration_seconds_count{method="POST",route="/things/{id}",status="201"} 2`,
		`http_request_duration_seconds_count{method="other",route="other",status="404"} 1`,
		"go_goroutines",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("%s is missing from\n%s", want, page)
		}
	}
	if strings.Contains(page, `route="/stream"`) {
		t.Error("a stream was measured")
	}
}

// collect returns the text that Prometheus receives.
func collect(t *testing.T, registry *prometheus.Registry) string {
	t.Helper()
	page := httptest.NewRecorder()
	httpserver.Metrics(registry).ServeHTTP(page, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", nil))
	return page.Body.String()
}

func TestRequestsThatPanicAreMeasured(t *testing.T) {
	registry := httpserver.NewRegistry()
	mux := chi.NewRouter()
	broken := errors.New("broken")
	for path, handle := range map[string]func(http.ResponseWriter) error{
		"/at-once":       func(http.ResponseWriter) error { return broken },
		"/aborted":       func(http.ResponseWriter) error { return http.ErrAbortHandler },
		"/begun":         func(w http.ResponseWriter) error { w.WriteHeader(http.StatusCreated); return broken },
		"/before-stream": func(w http.ResponseWriter) error { w.Header().Set("Content-Type", "text/event-stream"); return broken },
		"/stream": func(w http.ResponseWriter) error {
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(w, ": hello\n\n")
			return broken
		},
	} {
		mux.HandleFunc("GET "+path, func(w http.ResponseWriter, _ *http.Request) { panic(handle(w)) })
	}
	handler := measured(registry, mux)
	want := map[string]string{"/at-once": "500", "/aborted": "500", "/begun": "201", "/before-stream": "500", "/stream": ""}
	for path := range want {
		func() {
			defer func() {
				if reason := recover(); reason != nil && reason != http.ErrAbortHandler { //nolint:errorlint // as net/http does
					t.Errorf("%s: the panic was changed to %v", path, reason)
				}
			}()
			handler.ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil))
		}()
	}
	page := collect(t, registry)
	for path, status := range want {
		found := regexp.MustCompile(`http_request_duration_seconds_count{method="GET",route="` + path + `",status="(\d+)"} 1\n`).FindStringSubmatch(page)
		if status == "" && found != nil || status != "" && (found == nil || found[1] != status) {
			t.Errorf("%s is measured as %q, want %q", path, found, status)
		}
	}
}

func TestAPanicIsMeasuredAsItIsAnswered(t *testing.T) {
	registry := httpserver.NewRegistry()
	mux := chi.NewRouter()
	mux.HandleFunc("POST /broken", func(http.ResponseWriter, *http.Request) { panic("broken") })
	answer := httptest.NewRecorder()
	measured(registry, mux).ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/broken", nil))
	if page := collect(t, registry); answer.Code != http.StatusInternalServerError || !strings.Contains(page, `_count{method="POST",route="/broken",status="500"} 1`) {
		t.Errorf("answered %d and measured\n%s", answer.Code, page)
	}
}
