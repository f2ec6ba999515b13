package dynamodb

import (
	"context"
	"iter"
	"time"

	"example.com/threads/es/dynamodb/former"
	"example.com/threads/es/eventstore"
)

// StoredEntries implements [eventstore.Maintainer].
func (g *Gateway) StoredEntries(ctx context.Context, id eventstore.AggregateID) iter.Seq2[eventstore.StoredEntry, error] {
	return func(yield func(eventstore.StoredEntry, error) bool) {
		for event, err := range g.belongings(ctx, g.settings.JournalTable, id) {
			if err != nil {
				yield(eventstore.StoredEntry{}, explain(ctx, err, "read the journal of %s", id))
				return
			}
			if !yield(storedEntryOf(id, event), nil) {
				return
			}
		}
	}
}

func storedEntryOf(id eventstore.AggregateID, event item) eventstore.StoredEntry {
	event = former.Item(event)
	stored := eventstore.StoredEntry{Entry: eventstore.Entry{EventID: event.text("event_id"), Payload: event.bytes("payload")}}
	_, seqNr, err := placeOf(event.text("pkey"), event.text("skey"))
	if err != nil {
		stored.Faults = append(stored.Faults, eventstore.Fault{Field: "skey", Expected: id.String() + "-<number>", Found: event.text("skey")})
	} else {
		stored.SeqNr = seqNr
		stored.Faults = expect(stored.Faults, event, "seq_nr", number(seqNr))
	}
	stored.Faults = expect(stored.Faults, event, "aid", text(id.String()))
	occurredAt, err := event.milliseconds("occurred_at")
	if err != nil || occurredAt <= 0 {
		stored.Faults = append(stored.Faults,
			eventstore.Fault{Field: "occurred_at", Expected: "N, milliseconds since 1970", Found: describe(event["occurred_at"])})
	} else {
		stored.OccurredAt = time.UnixMilli(occurredAt).UTC()
	}
	return stored
}
