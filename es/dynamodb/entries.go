package dynamodb

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"example.com/threads/es"
	"example.com/threads/es/internal/seq"
)

// Entries queries the index, which is cheap. An entry that it lacks is read from the table by its key, consistently.
func (g *Gateway) Entries(ctx context.Context, id es.AggregateID, after, upTo uint64) iter.Seq2[es.Entry, error] {
	return func(yield func(es.Entry, error) bool) {
		if after >= upTo {
			return
		}
		g, err := g.at(ctx, id)
		if err != nil {
			yield(es.Entry{}, err)
			return
		}
		next := after + 1
		fill := func(end uint64) (goOn bool) { // exclusive
			var missing []uint64
			for ; next < end; next++ {
				missing = append(missing, next)
			}
			for entry, err := range g.entriesByKey(ctx, id, missing, upTo) {
				if !yield(entry, err) || err != nil {
					return false
				}
			}
			return true
		}
		query := g.indexed(g.settings.JournalTable, journalIndex, id, next, upTo)
		for entry, err := range seq.Map(g.query(ctx, "query the journal of "+id.String(), query), entryOf) {
			if err != nil {
				yield(entry, err)
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

// EntriesAt reads the entries by their keys.
func (g *Gateway) EntriesAt(ctx context.Context, id es.AggregateID, seqNrs []uint64) iter.Seq2[es.Entry, error] {
	var last uint64
	if len(seqNrs) > 0 {
		last = seqNrs[len(seqNrs)-1]
	}
	return yielded(ctx, g, id, func(g *Gateway) iter.Seq2[es.Entry, error] { return g.entriesByKey(ctx, id, seqNrs, last) })
}

// entriesByKey yields the entries with these numbers, of those up to upTo that a head has shown.
func (g *Gateway) entriesByKey(ctx context.Context, id es.AggregateID, seqNrs []uint64, upTo uint64) iter.Seq2[es.Entry, error] {
	return func(yield func(es.Entry, error) bool) {
		for some := range slices.Chunk(seqNrs, maxBatchGet) {
			keys := make([]map[string]types.AttributeValue, len(some))
			for i, seqNr := range some {
				keys[i] = g.key(id, seqNr)
			}
			events, err := GetItems(ctx, g.client, g.settings.JournalTable, keys)
			if err != nil {
				yield(es.Entry{}, Explain(ctx, err, "read the journal of %s", id))
				return
			}
			found := make(map[string]item, len(events))
			for _, event := range events {
				found[item(event).text("skey")] = event
			}
			for _, seqNr := range some {
				event, exists := found[sortKey(id, seqNr)]
				if !exists {
					yield(es.Entry{}, &es.InconsistentError{ID: id, Head: upTo, Event: seqNr})
					return
				}
				entry, err := entryOf(event)
				if !yield(entry, err) || err != nil {
					return
				}
			}
		}
	}
}

// eventItem returns the item of an entry: its keys, the payload, and what is needed to recognise a write.
func (g *Gateway) eventItem(id es.AggregateID, entry es.Entry) item {
	event := g.key(id, entry.SeqNr)
	event["aid"], event["seq_nr"] = text(id.String()), number(entry.SeqNr)
	event["payload"], event["event_id"] = text(string(entry.Payload)), text(entry.EventID)
	event["occurred_at"] = number(entry.OccurredAt.UnixMilli())
	return event
}

func entryOf(event item) (es.Entry, error) {
	event = readFormer(event)
	seqNr, err := event.number("seq_nr")
	if err != nil {
		return es.Entry{}, err
	}
	occurredAt, err := event.integer("occurred_at")
	if err != nil {
		return es.Entry{}, err
	}
	payload := event.bytes("payload")
	if seqNr == 0 || payload == nil {
		return es.Entry{}, fmt.Errorf("item %s of the journal is not an event: seq_nr or payload is missing", event.text("skey"))
	}
	return es.Entry{SeqNr: seqNr, EventID: event.text("event_id"), OccurredAt: time.UnixMilli(occurredAt).UTC(), Payload: payload}, nil
}

const (
	// journalEnd is the position after the last page.
	journalEnd = "end"
	// keySeparator separates pkey and skey in the position of a page.
	keySeparator = " "
)

// JournalParts implements [es.Journal].
func (g *Gateway) JournalParts() int { return 4 }

// ReadJournal implements [es.Journal]: a part is a segment of a parallel scan. Misplaced items are left out.
func (g *Gateway) ReadJournal(ctx context.Context, part, parts int, after string) iter.Seq2[es.JournalPage, error] {
	return func(yield func(es.JournalPage, error) bool) {
		scan := &dynamodb.ScanInput{
			TableName: aws.String(g.settings.JournalTable), ProjectionExpression: aws.String("pkey, skey, payload"),
			Segment: aws.Int32(int32(part)), TotalSegments: aws.Int32(int32(parts)),
		}
		if pkey, skey, is := strings.Cut(after, keySeparator); is {
			scan.ExclusiveStartKey = item{"pkey": text(pkey), "skey": text(skey)}
		} else if after == journalEnd {
			return
		} else if after != "" {
			yield(es.JournalPage{}, fmt.Errorf("%q is no position in the journal", after))
			return
		}
		for output, err := range g.scan(ctx, scan) {
			if err != nil {
				yield(es.JournalPage{}, err)
				return
			}
			page := es.JournalPage{Next: journalEnd}
			if last := item(output.LastEvaluatedKey); last != nil {
				page.Next = last.text("pkey") + keySeparator + last.text("skey")
			}
			for _, found := range output.Items {
				event := item(found)
				if id, seqNr, err := g.Place(event.text("pkey"), event.text("skey")); err == nil {
					page.Entries = append(page.Entries, es.Queued{ID: id, SeqNr: seqNr, Payload: event.bytes("payload")})
				}
			}
			if !yield(page, nil) {
				return
			}
		}
	}
}
