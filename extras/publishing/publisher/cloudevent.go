package publisher

import (
	"encoding/json"
	"fmt"
	"math"

	cloudevents "github.com/cloudevents/sdk-go/v2/event"

	"example.com/threads/es"
	"example.com/threads/extras/publishing"
)

// ContentType is that of every payload: a CloudEvent in structured mode.
const ContentType = cloudevents.ApplicationCloudEventsJSON

// Decode returns the decoder of an aggregate type. Its events have today's form, whenever they were written. The client
// address stays out: subscribers have no need of it.
func Decode[E any](codec *es.Codec[E]) publishing.Decode {
	return func(payload []byte) (publishing.Event, error) {
		recorded, err := codec.Decode(payload)
		published := publishing.Event{Envelope: recorded.Envelope}
		if err != nil {
			return published, err
		}
		recorded.ClientIP = ""
		published.Event.Type = codec.EventType(recorded.Event)
		published.Event.Data, err = codec.Encode(recorded)
		return published, err
	}
}

// Encode returns the CloudEvent of an event, as JSON.
func Encode(event publishing.Event) ([]byte, error) {
	aid := event.Aggregate().String()
	ce := cloudevents.New(cloudevents.CloudEventsVersionV1)
	ce.SetID(event.EventID)
	ce.SetSource("/" + event.Tenant.String() + "/" + aid)
	ce.SetType(event.Event.Type)
	ce.SetTime(event.OccurredAt)
	ce.SetSubject(aid)
	ce.SetExtension("partitionkey", aid)
	if event.SeqNr > math.MaxInt32 {
		return nil, fmt.Errorf("event %d of %s is beyond what the extension seqnr can hold", event.SeqNr, aid)
	}
	ce.SetExtension("seqnr", int32(event.SeqNr))
	for name, value := range map[string]string{"correlationid": event.CorrelationID, "causationid": event.CausationID} {
		if value != "" { // an attribute must not be empty
			ce.SetExtension(name, value)
		}
	}
	if err := ce.SetData(cloudevents.ApplicationJSON, json.RawMessage(event.Event.Data)); err != nil {
		return nil, err
	}
	if err := ce.Validate(); err != nil {
		return nil, err
	}
	return json.Marshal(ce)
}
