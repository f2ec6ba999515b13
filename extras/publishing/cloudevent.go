package publishing

import (
	"encoding/json"
	"fmt"
	"math"
	"time"

	"example.com/threads/es"
)

// ContentType is that of every payload: a CloudEvent in structured mode.
const ContentType = "application/cloudevents+json"

// Decode turns the payload of a journal record into an event to publish. With an error it returns an event with the
// EventID, if that could be read.
type Decode func(payload []byte) (Event, error)

// Type is an aggregate type whose events are published.
type Type struct {
	Name   string
	Decode Decode
}

// All returns aggregate types whose events are published; see [Of].
func All(aggregates []es.AnyAggregate) (types []Type) {
	for _, each := range aggregates {
		types = append(types, Of(each))
	}
	return types
}

// Of returns an aggregate type whose events are published. They have today's form, whenever they were written. The
// client address stays out: subscribers have no need of it.
func Of(aggregate es.AnyAggregate) Type {
	return Type{Name: aggregate.Type(), Decode: func(payload []byte) (Event, error) {
		recorded, err := aggregate.DecodeEvent(payload)
		published := Event{Envelope: recorded.Envelope}
		if err != nil {
			return published, err
		}
		recorded.ClientIP = ""
		published.Type, published.Data, err = aggregate.EncodeEvent(recorded)
		return published, err
	}}
}

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

// Encode returns the CloudEvent of an event, as JSON. Its error is a *[RefusedError].
func Encode(event Event) ([]byte, error) {
	aid := event.Aggregate().String()
	if event.SeqNr > math.MaxInt32 {
		return nil, &RefusedError{fmt.Errorf("event %d of %s is beyond what the extension seqnr can hold", event.SeqNr, aid)}
	}
	body, err := json.Marshal(cloudEvent{
		SpecVersion: "1.0", ID: event.EventID, Source: "/" + event.Tenant.String() + "/" + aid, Type: event.Type,
		Time: event.OccurredAt.UTC(), Subject: aid, PartitionKey: aid, SeqNr: event.SeqNr,
		CorrelationID: event.CorrelationID, CausationID: event.CausationID,
		DataContentType: "application/json", Data: event.Data,
	})
	if err != nil {
		return nil, &RefusedError{err}
	}
	return body, nil
}
