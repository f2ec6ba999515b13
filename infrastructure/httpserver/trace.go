package httpserver

import (
	"context"
	"net/http"
	"strings"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
)

// startSpan returns the request's context with the trace of its traceparent header, and its span. The span is nil
// without a tracer and for requests that are not traced: health checks, metrics and streams, whose duration depends on
// the client.
func startSpan(ctx context.Context, tracer trace.Tracer, r *http.Request) (context.Context, trace.Span) {
	if r.Header.Get("Traceparent") != "" {
		ctx = propagation.TraceContext{}.Extract(ctx, propagation.HeaderCarrier(r.Header))
	}
	isStream := r.Header.Get("Upgrade") != "" || strings.Contains(r.Header.Get("Accept"), "text/event-stream")
	if tracer == nil || isRoutine(r) || isStream {
		return ctx, nil
	}
	ctx, span := tracer.Start(ctx, cut(r.Method), trace.WithSpanKind(trace.SpanKindServer))
	if span.IsRecording() {
		span.SetAttributes(attribute.String("http.request.method", cut(r.Method)), attribute.String("url.path", cut(r.URL.Path)))
	}
	return ctx, span
}

// endSpan names the span by the request's method and route, which is known after the response.
func endSpan(span trace.Span, r *http.Request, route string, status int) {
	if span == nil {
		return
	}
	if span.IsRecording() {
		if route != "" {
			span.SetName(cut(r.Method) + " " + route)
			span.SetAttributes(attribute.String("http.route", route))
		}
		span.SetAttributes(attribute.Int("http.response.status_code", status))
		if status >= http.StatusInternalServerError {
			span.SetStatus(codes.Error, http.StatusText(status))
		}
	}
	span.End()
}
