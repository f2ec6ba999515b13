package es

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
)

func outcomeOf(result Result, err error) string {
	switch {
	case err != nil:
		return KindOf(err).String()
	case result.Replayed:
		return "replayed"
	}
	return "accepted"
}

// observe reports a command's end. A rejection is an answer, not a failure of the span.
func (s *Service[S, C, E]) observe(span trace.Span, name string, result Result, err error) {
	outcome := outcomeOf(result, err)
	s.settings.Metrics.commands.WithLabelValues(name, outcome).Inc()
	if !span.IsRecording() {
		return
	}
	span.SetAttributes(attribute.String("command.outcome", outcome))
	kind := KindOf(err)
	switch {
	case err == nil:
		span.SetAttributes(VersionAttribute(result.Key, result.Version))
	case kind == Internal || kind == Unavailable || kind == Inconsistent:
		span.SetStatus(codes.Error, err.Error())
	}
}

// startAppend starts the span of a write. It is a child of the first traced command in the write; the other commands'
// spans link to it.
func startAppend[C, E any](ctx context.Context, decided []decision[C, E], events int) (context.Context, trace.Span) {
	var commands []trace.Span
	for _, d := range decided {
		if span := trace.SpanFromContext(d.call.ctx); d.err == nil && span.IsRecording() {
			commands = append(commands, span)
		}
	}
	if len(commands) == 0 {
		return ctx, trace.SpanFromContext(context.Background()) // does nothing
	}
	ctx, span := StartSpan(trace.ContextWithSpan(ctx, commands[0]), "append")
	span.SetAttributes(attribute.Int("append.commands", len(decided)), attribute.Int("append.events", events))
	for _, command := range commands[1:] {
		command.AddLink(trace.Link{SpanContext: span.SpanContext()})
	}
	return ctx, span
}
