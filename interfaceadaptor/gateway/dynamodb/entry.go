package dynamodb

import (
	"fmt"
	"time"

	"example.com/threads/interfaceadaptor/eventstore"
)

// eventItem keeps of an entry what the keys and the recognition of a write need; the payload has all of it.
func (g *Gateway) eventItem(id eventstore.AggregateID, entry eventstore.Entry) item {
	event := g.key(id, entry.SeqNr)
	event["aid"] = text(id.String())
	event["seq_nr"] = number(entry.SeqNr)
	event["payload"] = text(string(entry.Payload))
	event["occurred_at"] = number(entry.OccurredAt.UnixMilli())
	event["event_id"] = text(entry.EventID)
	return event
}

func entryOf(event item) (eventstore.Entry, error) {
	seqNr, err := event.number("seq_nr")
	if err != nil {
		return eventstore.Entry{}, err
	}
	occurredAt, err := event.milliseconds("occurred_at")
	if err != nil {
		return eventstore.Entry{}, err
	}
	payload := event.bytes("payload")
	if seqNr == 0 || payload == nil {
		return eventstore.Entry{}, fmt.Errorf("item %s of the journal is no event: seq_nr or payload is missing", event.text("skey"))
	}
	return eventstore.Entry{
		SeqNr:      seqNr,
		EventID:    event.text("event_id"),
		OccurredAt: time.UnixMilli(occurredAt).UTC(),
		Payload:    payload,
	}, nil
}
