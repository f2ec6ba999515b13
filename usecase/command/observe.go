package command

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"example.com/threads/usecase"
)

// Observer is told what a [Service] does, for metrics. Its methods are called concurrently and must not block.
type Observer interface {
	// Handled is called for each command with its name and its outcome: accepted, replayed, or the kind of its error.
	Handled(name, outcome string)
	// Written is called for each write to the store with the numbers of its commands and events.
	Written(commands, events int)
}

type nobody struct{}

func (nobody) Handled(string, string) {}
func (nobody) Written(int, int)       {}

func outcomeOf(result Result, err error) string {
	switch {
	case err != nil:
		return usecase.KindOf(err).String()
	case result.Replayed:
		return "replayed"
	}
	return "accepted"
}

// observe reports a command's end. A rejection is an answer, not a failure of the span.
func (s *Service[S, C, E]) observe(span trace.Span, name string, result Result, err error) {
	outcome := outcomeOf(result, err)
	s.settings.Observer.Handled(name, outcome)
	if !span.IsRecording() {
		return
	}
	span.SetAttributes(attribute.String("command.outcome", outcome))
	switch usecase.KindOf(err) {
	case usecase.Internal, usecase.Unavailable, usecase.Inconsistent:
		if err != nil {
			span.SetStatus(codes.Error, err.Error())
		}
	}
	if err == nil {
		span.SetAttributes(usecase.VersionAttribute(result.Key, result.Version))
	}
}

// startAppend starts the span of a write. It is a child of the first traced command in the write; the other commands'
// spans link to it.
func startAppend[C, E any](ctx context.Context, decided []decision[C, E], events int) (context.Context, trace.Span) {
	span := trace.SpanFromContext(context.Background()) // does nothing
	for _, d := range decided {
		command := trace.SpanFromContext(d.call.ctx)
		switch {
		case d.err != nil || !command.IsRecording():
		case !span.IsRecording():
			ctx, span = usecase.StartSpan(trace.ContextWithSpan(ctx, command), "append")
			span.SetAttributes(attribute.Int("append.commands", len(decided)), attribute.Int("append.events", events))
		default:
			command.AddLink(trace.Link{SpanContext: span.SpanContext()})
		}
	}
	return ctx, span
}
