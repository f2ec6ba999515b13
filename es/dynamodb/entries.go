package dynamodb

import (
	"context"
	"fmt"
	"iter"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"example.com/threads/es"
)

// Entries queries the index, which is cheap but may be incomplete. An entry that is missing from the index, at the end
// or in the middle, is read from the table by its key, consistently. At most one page is in memory.
func (g *Gateway) Entries(ctx context.Context, id es.AggregateID, after, upTo uint64) iter.Seq2[es.Entry, error] {
	return func(yield func(es.Entry, error) bool) {
		if after >= upTo {
			return
		}
		page := new(pageSize)
		next := after + 1
		fill := func(end uint64) (goOn bool) { // exclusive
			for entry, err := range g.entriesByKey(ctx, page, id, next, end, upTo) {
				if !yield(entry, err) || err != nil {
					return false
				}
				next = entry.SeqNr + 1
			}
			return true
		}
		for entry, err := range g.entriesByIndex(ctx, page, id, next, upTo) {
			if err != nil {
				yield(es.Entry{}, err)
				return
			}
			if !fill(entry.SeqNr) || !yield(entry, nil) {
				return
			}
			next = entry.SeqNr + 1
		}
		fill(upTo + 1)
	}
}

// entriesByIndex yields the entries that the index shows, in order, possibly with gaps.
func (g *Gateway) entriesByIndex(
	ctx context.Context, page *pageSize, id es.AggregateID, from, to uint64,
) iter.Seq2[es.Entry, error] {
	return func(yield func(es.Entry, error) bool) {
		for found, err := range g.query(ctx, page, &dynamodb.QueryInput{
			TableName:                 aws.String(g.settings.JournalTable),
			IndexName:                 aws.String(journalIndex),
			KeyConditionExpression:    aws.String(indexKey),
			FilterExpression:          aws.String(indexFilter),
			ExpressionAttributeNames:  indexNames(),
			ExpressionAttributeValues: g.indexValues(id, from, to),
		}) {
			if err != nil {
				yield(es.Entry{}, explain(ctx, err, "query the journal of %s", id))
				return
			}
			entry, err := entryOf(found)
			if !yield(entry, err) || err != nil {
				return
			}
		}
	}
}

// entriesByKey yields the entries from <= SeqNr < end. A missing entry is an error: a head has shown that all entries
// up to upTo were written.
func (g *Gateway) entriesByKey(
	ctx context.Context, page *pageSize, id es.AggregateID, from, end, upTo uint64,
) iter.Seq2[es.Entry, error] {
	return func(yield func(es.Entry, error) bool) {
		for from < end {
			var seqNrs []uint64
			for to := min(end, from+uint64(min(page.items(), maxBatchGet))); from < to; from++ {
				seqNrs = append(seqNrs, from)
			}
			for entry, err := range g.someEntries(ctx, page, id, seqNrs, upTo) {
				if !yield(entry, err) || err != nil {
					return
				}
			}
		}
	}
}

// EntriesAt reads the entries by their keys, so no index is involved.
func (g *Gateway) EntriesAt(ctx context.Context, id es.AggregateID, seqNrs []uint64) iter.Seq2[es.Entry, error] {
	return func(yield func(es.Entry, error) bool) {
		page := new(pageSize)
		for len(seqNrs) > 0 {
			some := seqNrs[:min(len(seqNrs), page.items(), maxBatchGet)]
			for entry, err := range g.someEntries(ctx, page, id, some, seqNrs[len(seqNrs)-1]) {
				if !yield(entry, err) || err != nil {
					return
				}
			}
			seqNrs = seqNrs[len(some):]
		}
	}
}

// someEntries yields up to maxBatchGet entries by their numbers. upTo is a version that a head has shown.
func (g *Gateway) someEntries(
	ctx context.Context, page *pageSize, id es.AggregateID, seqNrs []uint64, upTo uint64,
) iter.Seq2[es.Entry, error] {
	return func(yield func(es.Entry, error) bool) {
		keys := make([]map[string]types.AttributeValue, len(seqNrs))
		for i, seqNr := range seqNrs {
			keys[i] = g.key(id, seqNr)
		}
		events, err := g.getEvents(ctx, keys)
		if err != nil {
			yield(es.Entry{}, explain(ctx, err, "read the journal of %s", id))
			return
		}
		found := make(map[string]item, len(events))
		for _, event := range events {
			found[event.text("skey")] = event
		}
		for _, seqNr := range seqNrs {
			event, exists := found[sortKey(id, seqNr)]
			if !exists {
				yield(es.Entry{}, &es.InconsistentError{ID: id, Head: upTo, Event: seqNr})
				return
			}
			page.saw(event)
			entry, err := entryOf(event)
			if !yield(entry, err) || err != nil {
				return
			}
		}
	}
}

// eventItem returns the item of an entry: its keys, the payload, and what is needed to recognise a write.
func (g *Gateway) eventItem(id es.AggregateID, entry es.Entry) item {
	event := g.key(id, entry.SeqNr)
	event["aid"] = text(id.String())
	event["seq_nr"] = number(entry.SeqNr)
	event["payload"] = text(string(entry.Payload))
	event["occurred_at"] = number(entry.OccurredAt.UnixMilli())
	event["event_id"] = text(entry.EventID)
	return event
}

func entryOf(event item) (es.Entry, error) {
	event = readFormer(event)
	seqNr, err := event.number("seq_nr")
	if err != nil {
		return es.Entry{}, err
	}
	occurredAt, err := event.milliseconds("occurred_at")
	if err != nil {
		return es.Entry{}, err
	}
	payload := event.bytes("payload")
	if seqNr == 0 || payload == nil {
		return es.Entry{}, fmt.Errorf("item %s of the journal is not an event: seq_nr or payload is missing", event.text("skey"))
	}
	return es.Entry{
		SeqNr:      seqNr,
		EventID:    event.text("event_id"),
		OccurredAt: time.UnixMilli(occurredAt).UTC(),
		Payload:    payload,
	}, nil
}
