package httpserver_test

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/go-chi/chi/v5"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"example.com/threads/infrastructure/httpserver"
	"example.com/threads/infrastructure/logging"
)

// A request gets a span named by its route, and its log lines name the trace. Health checks, metrics and streams are
// not traced.
func TestRequestsAreTraced(t *testing.T) {
	spans := tracetest.NewSpanRecorder()
	tracer := sdk.NewTracerProvider(sdk.WithSpanProcessor(spans)).Tracer("test")
	var log bytes.Buffer
	mux := chi.NewRouter()
	mux.HandleFunc("POST /things/{id}", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) })
	mux.HandleFunc("/health/ready", func(http.ResponseWriter, *http.Request) {})
	handler := httpserver.Wrap(logging.Settings{}.Logger(&log), tracer, nil, mux)
	for _, request := range []struct{ path, header, value string }{
		{path: "/things/7"}, {path: "/health/ready"},
		{"/things/7", "Upgrade", "websocket"}, {"/things/7", "Accept", "text/event-stream"},
		{"/things/8", "Accept", "application/json, text/event-stream"}, // it gets JSON
	} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, request.path, nil)
		if request.header != "" {
			r.Header.Set(request.header, request.value)
		}
		handler.ServeHTTP(httptest.NewRecorder(), r)
	}
	ended := spans.Ended()
	if len(ended) != 2 || ended[0].Name() != "POST /things/{id}" || ended[0].Status().Description == "" {
		t.Fatalf("spans %v", ended)
	}
	first, _, _ := strings.Cut(log.String(), "\n")
	if !strings.Contains(first, ended[0].SpanContext().TraceID().String()) {
		t.Errorf("the log does not name the trace: %s", first)
	}
}
