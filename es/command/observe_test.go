package command_test

import (
	"context"
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
	"example.com/threads/es/command"
)

// oneAtATime keeps one purse in memory. A write blocks until the test continues it.
type oneAtATime struct {
	command.Repository[purse, coinIn]
	state   command.State[purse]
	goOn    chan struct{}
	written []es.Recorded[coinIn]
}

func (r *oneAtATime) Load(context.Context, es.Key) (command.State[purse], error) {
	return r.state, nil
}

func (r *oneAtATime) Confirm(context.Context, es.Key, uint64) error { return nil }

func (r *oneAtATime) Save(_ context.Context, _ es.Key, write command.Write[purse, coinIn]) error {
	<-r.goOn
	r.state = write.After
	r.written = append(r.written, write.Events...)
	return nil
}

// told records the calls of an observer.
type told struct {
	mutex    sync.Mutex
	outcomes map[string]int
	writes   []int // the number of commands in each write
	events   int
}

func (o *told) Handled(name, outcome string) {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	o.outcomes[name+" "+outcome]++
}

func (o *told) Written(commands, events int) {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	o.writes = append(o.writes, commands)
	o.events += events
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
	repository := &oneAtATime{goOn: make(chan struct{})}
	observed := &told{outcomes: map[string]int{}}
	service := command.NewService(purses(), repository, command.Settings{Observer: observed, Timeout: time.Minute})
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
	go func() { group.Wait(); service.Drain(); close(done) }()
	for released := false; !released; {
		select {
		case repository.goOn <- struct{}{}:
		case <-done:
			released = true
		}
	}
	if _, err := service.Handle(t.Context(), put(id, 0, "")); err == nil {
		t.Error("a command without coins was accepted")
	}

	if observed.outcomes["purse.PutIn accepted"] != commands || observed.outcomes["purse.PutIn internal"] != 1 || observed.events != 2*commands {
		t.Errorf("observed %v, %d events", observed.outcomes, observed.events)
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
	if appends != len(observed.writes) || len(byTrace) != commands || slices.Max(slices.Collect(maps.Values(byTrace))) != 1 {
		t.Errorf("%d spans of %d writes; traces with their writes: %v", appends, len(observed.writes), byTrace)
	}
	for _, event := range repository.written {
		span := es.Traced(event.Traceparent)
		if _, known := traces.LoadAndDelete(span.TraceID()); !known && event.Event.Number%2 == 1 || !span.IsSampled() {
			t.Errorf("event %d names the trace %q", event.SeqNr, event.Traceparent)
		}
	}
	return slices.Max(observed.writes) > 1
}

func TestWithoutATraceThereIsNoTraceparent(t *testing.T) {
	repository := &oneAtATime{goOn: make(chan struct{}, 1)}
	repository.goOn <- struct{}{}
	service := command.NewService(purses(), repository, command.Settings{})
	if _, err := service.Handle(t.Context(), put(ulid.Make().String(), 1, "")); err != nil {
		t.Fatal(err)
	}
	if len(repository.written) != 1 || repository.written[0].Traceparent != "" {
		t.Errorf("wrote %+v", repository.written)
	}
}
