package httpserver

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"go.opentelemetry.io/otel/trace"
)

func FuzzRequestHeaders(f *testing.F) {
	f.Add("b7f2c0de", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")
	f.Fuzz(func(t *testing.T, id, traceparent string) {
		if made := requestID(&http.Request{Header: http.Header{requestIDHeader: {id}}}); made == "" || len(made) > maxRequestID {
			t.Errorf("%q makes the id %q", id, made)
		}
		ctx, _ := startSpan(t.Context(), nil, &http.Request{URL: &url.URL{}, Header: http.Header{"Traceparent": {traceparent}}})
		if found := trace.SpanContextFromContext(ctx); found.HasTraceID() && !strings.Contains(traceparent, found.TraceID().String()) {
			t.Errorf("%q has the trace %s", traceparent, found.TraceID())
		}
	})
}
