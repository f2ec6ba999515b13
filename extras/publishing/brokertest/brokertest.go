// Package brokertest has what the tests of all brokers do.
package brokertest

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/oklog/ulid/v2"

	"example.com/threads/es"
	"example.com/threads/es/projection"
	"example.com/threads/extras/publishing"
)

// Topic is the topic of the tests.
const Topic = "threads.events"

// Event returns an event whose data has about size bytes.
func Event(seqNr uint64, size int) publishing.Event {
	e := publishing.Event{Envelope: es.Envelope{
		EventID: ulid.Make().String(), AggregateType: "thread", AggregateID: ulid.Make().String(), SeqNr: seqNr,
		OccurredAt: time.Date(2026, 1, 2, 3, 4, 5, 678_901_000, time.UTC),
		Caller:     es.Caller{CorrelationID: "a talk", CausationID: "a cause"},
	}}
	e.Type, e.Data = "ThreadRenamed", fmt.Appendf(nil, `{"name":%q}`, strings.Repeat("x", size))
	return e
}

// Open returns what publishes to the broker of a URL.
func Open(t *testing.T, kind *publishing.Kind, text string) publishing.Publish {
	t.Helper()
	at, err := url.Parse(text)
	if err != nil || !slices.Contains(kind.Schemes, at.Scheme) {
		t.Fatalf("%s: %v", text, err)
	}
	publish, end, err := kind.Connect(at, Topic)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(end)
	return publish
}

// Got is what a subscriber receives for an event.
type Got struct {
	Key, ContentType string
	Body             []byte
}

// Publishes publishes five events and compares them with what arrives.
func Publishes(t *testing.T, publish publishing.Publish, arrived func() []Got) {
	t.Helper()
	events := make([]publishing.Event, 5)
	for i := range events {
		events[i] = Event(uint64(i)+1, 10)
		if err := publish(t.Context(), events[i]); err != nil {
			t.Fatal(err)
		}
	}
	got := arrived()
	if len(got) != len(events) {
		t.Fatalf("a subscriber got %d events", len(got))
	}
	for i, one := range got {
		body, err := publishing.Encode(events[i])
		if err != nil || string(one.Body) != string(body) {
			t.Errorf("a subscriber got %s\nwant %s, %v", one.Body, body, err)
		}
		if one.ContentType != "application/cloudevents+json" || one.Key != "" && one.Key != events[i].Aggregate().String() {
			t.Errorf("key %q, content type %q", one.Key, one.ContentType)
		}
	}
}

// Refuses publishes an event that the broker must refuse, and another one.
func Refuses(t *testing.T, publish publishing.Publish, event publishing.Event) {
	t.Helper()
	if err := publish(t.Context(), event); !errors.Is(err, projection.ErrRefused) {
		t.Errorf("got %v, want a refusal", err)
	}
	if err := publish(t.Context(), Event(1, 10)); err != nil {
		t.Errorf("the next event: %v", err)
	}
}

// Fails publishes an event while the broker is down.
func Fails(t *testing.T, publish publishing.Publish) error {
	t.Helper()
	err := publish(t.Context(), Event(1, 10))
	if err == nil || errors.Is(err, projection.ErrRefused) {
		t.Errorf("got %v, want an outage", err)
	}
	return err
}
