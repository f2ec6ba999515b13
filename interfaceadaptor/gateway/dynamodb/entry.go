package dynamodb

import (
	"fmt"
	"time"

	"example.com/threads/interfaceadaptor/repository"
)

// eventItem keeps of an entry what the keys and the recognition of a write need; the payload has all of it.
func (g *Gateway) eventItem(id repository.AggregateID, entry repository.Entry) item {
	event := g.key(id, entry.SeqNr)
	event["aid"] = text(id.String())
	event["seq_nr"] = number(entry.SeqNr)
	event["payload"] = text(string(entry.Payload))
	event["occurred_at"] = number(entry.OccurredAt.UnixMilli())
	event["event_id"] = text(entry.EventID)
	return event
}

func entryOf(event item) (repository.Entry, error) {
	seqNr, err := event.number("seq_nr")
	if err != nil {
		return repository.Entry{}, err
	}
	occurredAt, err := event.number("occurred_at")
	if err != nil {
		return repository.Entry{}, err
	}
	payload := event.bytes("payload")
	if seqNr == 0 || payload == nil {
		return repository.Entry{}, fmt.Errorf("item %s of the journal is no event: seq_nr or payload is missing", event.text("skey"))
	}
	return repository.Entry{
		SeqNr:      seqNr,
		EventID:    event.text("event_id"),
		OccurredAt: time.UnixMilli(int64(occurredAt)).UTC(),
		Payload:    payload,
	}, nil
}
