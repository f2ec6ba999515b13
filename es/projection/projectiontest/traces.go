package projectiontest

import (
	"slices"
	"testing"
	"time"

	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"example.com/threads/es"
	"example.com/threads/es/projection"
)

// traces: a recent event with a sampled trace adds its spans to that trace, once. Old events, as in a first projection
// or a repair, add none.
func traces(t *testing.T, db Database) {
	spans := tracetest.NewSpanRecorder()
	clock, journal := newClock(), NewJournal()
	projector := newProjectorOf(db, journal, projection.Options{
		Now: clock.read, Tracer: sdk.NewTracerProvider(sdk.WithSpanProcessor(spans)).Tracer("test"),
	}, ledgerType)
	s := begin(t, journal, "acme")
	const kept, notKept = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00"
	for _, event := range []struct {
		age         time.Duration
		traceparent string
	}{{0, kept}, {0, notKept}, {0, ""}, {0, "junk"}, {time.Hour, kept}} {
		recorded := projection.Event{
			Envelope: es.Envelope{
				EventID: "E", AggregateType: s.key.Type, AggregateID: s.key.ID, SeqNr: s.version() + 1, Caller: es.Caller{Tenant: s.key.Tenant},
				OccurredAt: clock.read().Add(-event.age), Traceparent: event.traceparent,
			},
			Event: entry{Text: "a line"},
		}
		journal.Append(recorded)
	}
	records := s.all()
	project(t, projector, records...)
	project(t, projector, records...) // they arrive again
	if _, err := projector.Repair(t.Context()); err != nil {
		t.Fatal(err)
	}

	trace := es.Envelope{Traceparent: kept}.Span()
	var names []string
	batches := 0
	for _, span := range spans.Ended() {
		if span.Name() == "project batch" {
			batches++
			if links := span.Links(); len(links) != 1 || links[0].SpanContext.SpanID() != trace.SpanID() {
				t.Errorf("a batch has the links %v", links)
			}
			continue
		}
		if span.SpanContext().TraceID() == trace.TraceID() { // the others are the statements of the batches
			names = append(names, span.Name())
		}
	}
	slices.Sort(names)
	if want := []string{"commit", "project projectiontest.entry", "stream"}; !slices.Equal(names, want) || batches != 2 {
		t.Errorf("%d batches, spans %q, want %q", batches, names, want)
	}
}
