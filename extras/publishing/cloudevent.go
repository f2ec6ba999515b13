package publishing

import (
	"encoding/json"
	"fmt"
	"math"
	"time"
)

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
