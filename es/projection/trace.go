package projection

import (
	"context"
	"fmt"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"
)

const (
	// tracedFor is the age up to which an event's trace is continued: a repair must not add to old traces.
	tracedFor = 10 * time.Minute
	// maxLinks limits the traces that the span of a batch links to.
	maxLinks = 32
)

// startBatch starts the span of a batch that has traced events: a trace of its own, with links to those of its events.
func (p *Projector) startBatch(ctx context.Context, runs []eventRun) (context.Context, trace.Span) {
	var links []trace.Link
	events := 0
	for _, run := range runs {
		events += len(run.events)
		for _, event := range run.events {
			if span := p.traceOf(event); span.IsSampled() && len(links) < maxLinks {
				links = append(links, trace.Link{SpanContext: span})
			}
		}
	}
	if len(links) == 0 {
		return ctx, trace.SpanFromContext(context.Background()) // it does nothing
	}
	return p.options.Tracer.Start(ctx, "project batch", trace.WithLinks(links...), trace.WithSpanKind(trace.SpanKindConsumer),
		trace.WithAttributes(attribute.Int("batch.events", events)))
}

// traceOf returns the span of the command that an event results from, if there is one to continue: of a recent event.
func (p *Projector) traceOf(event Event) trace.SpanContext {
	if p.options.Tracer == nil || event.Traceparent == "" || p.options.Now().Sub(event.OccurredAt) > tracedFor {
		return trace.SpanContext{}
	}
	return event.Span()
}

// continueTraces adds the spans of committed events to the traces of their commands: the way through the stream, and
// the projection with its commit. Spans of events in one transaction have the same times.
func (p *Projector) continueTraces(ctx context.Context, events []Event, began, saved, committed time.Time) {
	var links []trace.Link
	if batch := trace.SpanContextFromContext(ctx); batch.IsSampled() {
		links = append(links, trace.Link{SpanContext: batch})
	}
	for _, event := range events {
		parent := p.traceOf(event)
		if !parent.IsSampled() {
			continue
		}
		ctx := trace.ContextWithRemoteSpanContext(ctx, parent)
		occurred := event.OccurredAt
		if occurred.After(began) { // another machine's clock
			occurred = began
		}
		_, stream := p.options.Tracer.Start(ctx, "stream", trace.WithTimestamp(occurred), trace.WithSpanKind(trace.SpanKindConsumer))
		stream.End(trace.WithTimestamp(began))
		ctx, project := p.options.Tracer.Start(ctx, fmt.Sprintf("project %T", event.Event),
			trace.WithTimestamp(began), trace.WithSpanKind(trace.SpanKindConsumer), trace.WithLinks(links...),
			trace.WithAttributes(event.Aggregate().VersionAttribute(event.SeqNr), attribute.String("event.id", event.EventID)))
		_, commit := p.options.Tracer.Start(ctx, "commit", trace.WithTimestamp(saved))
		commit.End(trace.WithTimestamp(committed))
		project.End(trace.WithTimestamp(committed))
	}
}
