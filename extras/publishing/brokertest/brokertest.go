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

// Broker publishes events to a broker.
type Broker struct{ Publish publishing.Publish }

// Open returns the broker of a URL.
func Open(t *testing.T, kind *publishing.Kind, text string) Broker {
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
	return Broker{publish}
}

// Got is what a subscriber receives for an event.
type Got struct {
	Key, ContentType string
	Body             []byte
}

// Publishes publishes five events and compares them with what arrives.
func Publishes(t *testing.T, broker Broker, arrived func() []Got) {
	t.Helper()
	var events []publishing.Event
	var wanted, bodies []string
	for seqNr := range uint64(5) {
		event := Event(seqNr+1, 10)
		if err := broker.Publish(t.Context(), event); err != nil {
			t.Fatal(err)
		}
		body, err := publishing.Encode(event)
		if err != nil {
			t.Fatal(err)
		}
		events, wanted = append(events, event), append(wanted, string(body))
	}
	for i, one := range arrived() {
		bodies = append(bodies, string(one.Body))
		if one.ContentType != "application/cloudevents+json" || one.Key != "" && one.Key != events[i].Aggregate().String() {
			t.Errorf("key %q, content type %q", one.Key, one.ContentType)
		}
	}
	if !slices.Equal(bodies, wanted) {
		t.Errorf("a subscriber got %q\nwant %q", bodies, wanted)
	}
}

// Refuses publishes an event that the broker must refuse, and another one.
func Refuses(t *testing.T, broker Broker, event publishing.Event) {
	t.Helper()
	err := broker.Publish(t.Context(), event)
	if !errors.Is(err, projection.ErrRefused) {
		t.Errorf("got %v, want a refusal", err)
	}
	if err := broker.Publish(t.Context(), Event(1, 10)); err != nil {
		t.Errorf("the next event: %v", err)
	}
}

// Fails publishes an event while the broker is down.
func Fails(t *testing.T, broker Broker) error {
	t.Helper()
	err := broker.Publish(t.Context(), Event(1, 10))
	if err == nil || errors.Is(err, projection.ErrRefused) {
		t.Errorf("got %v, want an outage", err)
	}
	return err
}
