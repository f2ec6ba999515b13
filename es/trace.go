package es

import (
	"context"
	"strconv"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
)

const tracerName = "example.com/threads/es"

// StartSpan starts a span below the one in ctx. Where that is not recorded, because nothing is traced or this trace is
// not sampled, it returns ctx and a span that does nothing, and allocates nothing.
func StartSpan(ctx context.Context, name string) (context.Context, trace.Span) {
	parent := trace.SpanFromContext(ctx)
	if !parent.IsRecording() {
		return ctx, ignored
	}
	return parent.TracerProvider().Tracer(tracerName).Start(ctx, name)
}

// ignored is a span that does nothing.
var ignored = trace.SpanFromContext(context.Background())

const traceparentHeader = "traceparent" // of W3C Trace Context

// Traceparent returns the trace and span of ctx in the form of W3C Trace Context; empty without a trace.
func Traceparent(ctx context.Context) string {
	if !trace.SpanContextFromContext(ctx).IsValid() {
		return ""
	}
	carrier := propagation.MapCarrier{}
	propagation.TraceContext{}.Inject(ctx, carrier)
	return carrier[traceparentHeader]
}

// Traced returns the span that a traceparent names. It is not valid if the text is not a traceparent.
func Traced(traceparent string) trace.SpanContext {
	if traceparent == "" {
		return trace.SpanContext{}
	}
	carrier := propagation.MapCarrier{traceparentHeader: traceparent}
	return trace.SpanContextFromContext(propagation.TraceContext{}.Extract(context.Background(), carrier))
}

// VersionAttribute is the attribute of spans that bring an aggregate to a version, and of those that wait for it. A
// search for it finds both, where they are in different traces.
func VersionAttribute(id AggregateID, version uint64) attribute.KeyValue {
	return attribute.String("aggregate.version", id.String()+":"+strconv.FormatUint(version, 10))
}
