package dynamodb

import (
	"context"
	"iter"
	"time"

	"example.com/threads/es"
)

// StoredEntries implements [es.Maintainer].
func (g *Gateway) StoredEntries(ctx context.Context, id es.AggregateID) iter.Seq2[es.StoredEntry, error] {
	return func(yield func(es.StoredEntry, error) bool) {
		for event, err := range g.belongings(ctx, g.settings.JournalTable, id) {
			if err != nil {
				yield(es.StoredEntry{}, explain(ctx, err, "read the journal of %s", id))
				return
			}
			if !yield(storedEntryOf(id, event), nil) {
				return
			}
		}
	}
}

func storedEntryOf(id es.AggregateID, event item) es.StoredEntry {
	event = readFormer(event)
	stored := es.StoredEntry{Entry: es.Entry{EventID: event.text("event_id"), Payload: event.bytes("payload")}}
	_, seqNr, err := placeOf(event.text("pkey"), event.text("skey"))
	if err != nil {
		stored.Faults = append(stored.Faults, es.Fault{Field: "skey", Expected: id.String() + "-<number>", Found: event.text("skey")})
	} else {
		stored.SeqNr = seqNr
		stored.Faults = expect(stored.Faults, event, "seq_nr", number(seqNr))
	}
	stored.Faults = expect(stored.Faults, event, "aid", text(id.String()))
	occurredAt, err := event.milliseconds("occurred_at")
	if err != nil || occurredAt <= 0 {
		stored.Faults = append(stored.Faults,
			es.Fault{Field: "occurred_at", Expected: "N, milliseconds since 1970", Found: describe(event["occurred_at"])})
	} else {
		stored.OccurredAt = time.UnixMilli(occurredAt).UTC()
	}
	return stored
}
