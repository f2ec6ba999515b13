package es_test

import (
	"context"
	"iter"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/oklog/ulid/v2"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"example.com/threads/es"
)

// oneAtATime is an event store for one purse. A write blocks until the test continues it.
type oneAtATime struct {
	es.EventPersistenceGateway
	goOn    chan struct{}
	version uint64
	written []es.Recorded[coinIn]
}

func (g *oneAtATime) Head(context.Context, es.AggregateID) (es.Head, error) {
	return es.Head{Version: g.version}, nil
}

func (g *oneAtATime) EntriesAt(context.Context, es.AggregateID, []uint64) iter.Seq2[es.Entry, error] {
	return func(func(es.Entry, error) bool) {}
}

func (g *oneAtATime) Append(_ context.Context, write es.Append) error {
	<-g.goOn
	g.version = write.NextVersion()
	for _, entry := range write.Entries {
		recorded, err := purses().Events.Decode(entry.Payload)
		if err != nil {
			return err
		}
		g.written = append(g.written, recorded)
	}
	return nil
}

func (g *oneAtATime) service(settings es.Settings) *es.Service[purse, putIn, coinIn] {
	return es.NewService(purses(), g, settings)
}

// Commands of several traces share a write. Each trace must link to the write, and each event must contain the trace of
// its own command.
func TestCommandsThatShareAWriteAreTracedAndCounted(t *testing.T) {
	for round := 1; !shareAWrite(t); round++ { // commands may arrive during another write, or too late
		if round == 100 {
			t.Fatal("commands that arrive together never share a write")
		}
	}
}

// shareAWrite sends commands together and checks what is observed; false: they did not share a write.
func shareAWrite(t *testing.T) (shared bool) {
	t.Helper()
	spans := tracetest.NewSpanRecorder()
	tracer := sdk.NewTracerProvider(sdk.WithSpanProcessor(spans)).Tracer("test")
	store := &oneAtATime{goOn: make(chan struct{})}
	metrics := es.NewMetrics()
	service := store.service(es.Settings{Metrics: metrics, Timeout: time.Minute})
	id := ulid.Make().String()

	const commands = 8
	var traces sync.Map // traces of the commands
	var group sync.WaitGroup
	for range commands {
		group.Go(func() {
			ctx, root := tracer.Start(t.Context(), "request")
			defer root.End()
			traces.Store(root.SpanContext().TraceID(), true)
			if _, err := service.Handle(ctx, put(id, 2, "")); err != nil {
				t.Error(err)
			}
		})
	}
	done := make(chan struct{})
	go func() { group.Wait(); _ = service.Close(t.Context()); close(done) }()
	for released := false; !released; {
		select {
		case store.goOn <- struct{}{}:
		case <-done:
			released = true
		}
	}
	if _, err := service.Handle(t.Context(), put(id, 0, "")); err == nil {
		t.Error("a command without coins was accepted")
	}

	accepted, failed := measuredOf(t, metrics, "commands_total", "purse.PutIn", "accepted"), measuredOf(t, metrics, "commands_total", "purse.PutIn", "internal")
	if events := measuredOf(t, metrics, "events_per_write"); accepted != commands || failed != 1 || events != 2*commands {
		t.Errorf("measured %v accepted and %v failed commands with %v events", accepted, failed, events)
	}
	byTrace := map[trace.TraceID]int{} // the spans and links of writes
	appends := 0
	for _, span := range spans.Ended() {
		switch span.Name() {
		case "append":
			appends++
			byTrace[span.SpanContext().TraceID()]++
		case "purse.PutIn":
			if len(span.Links()) > 0 {
				byTrace[span.SpanContext().TraceID()]++
			}
		}
	}
	writes := int(measuredOf(t, metrics, "commands_per_write_count"))
	if appends != writes || len(byTrace) != commands || slices.Max(slices.Collect(maps.Values(byTrace))) != 1 {
		t.Errorf("%d spans of %d writes; traces with their writes: %v", appends, writes, byTrace)
	}
	for _, event := range store.written {
		span := event.Span()
		if _, known := traces.LoadAndDelete(span.TraceID()); !known && event.Event.Number%2 == 1 || !span.IsSampled() {
			t.Errorf("event %d names the trace %q", event.SeqNr, event.Traceparent)
		}
	}
	return writes < commands
}

func TestWithoutATraceThereIsNoTraceparent(t *testing.T) {
	store := &oneAtATime{goOn: make(chan struct{}, 1)}
	store.goOn <- struct{}{}
	service := store.service(es.Settings{})
	if _, err := service.Handle(t.Context(), put(ulid.Make().String(), 1, "")); err != nil {
		t.Fatal(err)
	}
	if len(store.written) != 1 || store.written[0].Traceparent != "" {
		t.Errorf("wrote %+v", store.written)
	}
}
