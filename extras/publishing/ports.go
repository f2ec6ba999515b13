// Package publishing is the engine that publishes every event to a broker. It is another projection: the source's
// records go through a [projection.Projector], with its positions, gaps from the journal, parking and repair. Instead
// of writing rows in a transaction, it publishes the events: [Publisher] is the projector's store, and stores positions
// and checkpoints once the broker has accepted the events. No database transaction is open during calls to the broker.
//
// It knows no aggregate type and no broker: the program hands it both, such as those of nats, kafka and webhook.
package publishing

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"syscall"
	"time"

	"example.com/threads/es"
	"example.com/threads/es/projection"
)

// Event is an event in its published form.
type Event = es.Described

// Publish publishes an event. It returns nil once the broker has stored it. A [projection.ErrRefused], as of [Refused],
// means that the event would always be refused. Every other error is an outage: the event may be stored or not, and is
// published again; a *[BusyError] says when.
//
// It may be called concurrently, but not for two events of one aggregate, which therefore never overtake each other.
// ctx ends when the broker has not answered within 10 s. Errors are logged and stored. Their text has no words of the
// broker, because those may be the words of the event.
type Publish = func(ctx context.Context, event Event) error

// Message is an event as a broker gets it.
type Message struct {
	ID   string // of the event
	Key  string // of its aggregate
	Body []byte // of type [ContentType]
}

// Refused returns an error that means that a broker refuses an event. It parks only the event's aggregate.
func Refused(cause error) error {
	return answer{fmt.Errorf("the broker refuses the event: %w", cause), projection.ErrRefused}
}

// outage returns an error that makes the projection retry the events.
func outage(cause error) error {
	return answer{fmt.Errorf("the broker did not accept an event; it is published again: %w", cause), projection.ErrTransient}
}

// answer is an error of a kind that the projection knows.
type answer struct {
	error
	kind error
}

func (a answer) Unwrap() []error { return []error{a.error, a.kind} }

// BusyError is an outage with the time of the next attempt, given by the broker.
type BusyError struct {
	Cause error
	After time.Duration
}

func (e *BusyError) Error() string { return e.Cause.Error() }

// Cause describes why a broker has not accepted an event, in words of our own. The text of a library's error may quote
// what the broker answered, and so the texts in the event, or secrets of the URL.
func Cause(err error) error {
	var system syscall.Errno
	switch {
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded):
		return errors.New("no answer in time")
	case errors.As(err, &system):
		return fmt.Errorf("the connection failed: %w", system) // the operating system's words
	}
	for next := errors.Unwrap(err); next != nil; next = errors.Unwrap(err) {
		err = next
	}
	return fmt.Errorf("no valid answer (%T)", err)
}

// ContentType is that of every payload: a CloudEvent in structured mode.
const ContentType = "application/cloudevents+json"

// cloudEvent has the attributes of CloudEvents 1.0, and the extensions of docs/asyncapi.yaml.
type cloudEvent struct {
	SpecVersion     string          `json:"specversion"`
	ID              string          `json:"id"`
	Source          string          `json:"source"`
	Type            string          `json:"type"`
	Time            time.Time       `json:"time"`
	Subject         string          `json:"subject"`
	PartitionKey    string          `json:"partitionkey"`
	SeqNr           uint64          `json:"seqnr"`
	CorrelationID   string          `json:"correlationid,omitempty"` // an attribute must not be empty
	CausationID     string          `json:"causationid,omitempty"`
	DataContentType string          `json:"datacontenttype"`
	Data            json.RawMessage `json:"data"`
}

// Encode returns the CloudEvent of an event, as JSON. Its error is [Refused].
func Encode(event Event) ([]byte, error) {
	aid := event.Aggregate().String()
	if event.SeqNr > math.MaxInt32 {
		return nil, Refused(fmt.Errorf("event %d of %s is beyond what the extension seqnr can hold", event.SeqNr, aid))
	}
	body, err := json.Marshal(cloudEvent{
		SpecVersion: "1.0", ID: event.EventID, Source: "/" + event.Tenant.String() + "/" + aid, Type: event.Type,
		Time: event.OccurredAt.UTC(), Subject: aid, PartitionKey: aid, SeqNr: event.SeqNr,
		CorrelationID: event.CorrelationID, CausationID: event.CausationID,
		DataContentType: "application/json", Data: event.Data,
	})
	if err != nil {
		return nil, Refused(err)
	}
	return body, nil
}
