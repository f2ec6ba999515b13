package es_test

import (
	"context"
	"testing"

	"go.opentelemetry.io/otel/trace"

	"example.com/threads/es"
)

const traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

// Without a tracer, and below a caller's trace that this program does not record, spans must not cost memory.
func TestWithoutTracingSpansCostNothing(t *testing.T) {
	remote := trace.ContextWithRemoteSpanContext(t.Context(), es.Envelope{Traceparent: traceparent}.Span())
	for name, ctx := range map[string]context.Context{"no trace": t.Context(), "a caller's trace": remote} {
		if allocations := testing.AllocsPerRun(100, func() {
			_, span := es.StartSpan(ctx, "nothing")
			if span.IsRecording() {
				t.Error("a span is recorded")
			}
			span.End()
		}); allocations != 0 {
			t.Errorf("%s: %v allocations", name, allocations)
		}
	}
	if allocations := testing.AllocsPerRun(100, func() { _ = es.TraceparentOf(t.Context()) }); allocations != 0 {
		t.Errorf("to find no trace took %v allocations", allocations)
	}
}

func TestTraceparents(t *testing.T) {
	for _, text := range []string{traceparent, "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00"} {
		ctx := trace.ContextWithRemoteSpanContext(t.Context(), es.Envelope{Traceparent: text}.Span())
		if got := es.TraceparentOf(ctx); got != text {
			t.Errorf("%s becomes %s", text, got)
		}
	}
	for _, text := range []string{"", "junk", "00-00000000000000000000000000000000-00f067aa0ba902b7-01", traceparent + "-more"} {
		if (es.Envelope{Traceparent: text}).Span().IsValid() {
			t.Errorf("%q is a traceparent", text)
		}
	}
}
