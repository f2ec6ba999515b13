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

// Entries queries the index, which is cheap. From the first entry that it lacks, entries are read from the table by
// their keys, consistently.
func (g *Gateway) Entries(ctx context.Context, id es.AggregateID, after, upTo uint64) iter.Seq2[es.Entry, error] {
	if after >= upTo {
		return func(func(es.Entry, error) bool) {}
	}
	return yielded(ctx, g, id, func(g *Gateway) iter.Seq2[es.Entry, error] {
		return func(yield func(es.Entry, error) bool) {
			next := after + 1
			query := g.indexed(g.settings.JournalTable, journalIndex, id, next, upTo)
			for entry, err := range seq.Map(g.query(ctx, "query the journal of "+id.String(), query), entryOf) {
				if err == nil && entry.SeqNr != next {
					break
				}
				if !yield(entry, err) || err != nil {
					return
				}
				next++
			}
			for next <= upTo {
				var missing []uint64 // a wrong head may say any number
				for ; next <= upTo && len(missing) < maxBatchGet; next++ {
					missing = append(missing, next)
				}
				for entry, err := range g.entriesAt(ctx, id, missing, upTo) {
					if !yield(entry, err) || err != nil {
						return
					}
				}
			}
		}
	})
}

// EntriesAt reads the entries by their keys.
func (g *Gateway) EntriesAt(ctx context.Context, id es.AggregateID, seqNrs []uint64) iter.Seq2[es.Entry, error] {
	if len(seqNrs) == 0 {
		return func(func(es.Entry, error) bool) {}
	}
	return g.entriesAt(ctx, id, seqNrs, seqNrs[len(seqNrs)-1])
}

// entriesAt returns an error for an entry that is missing; head is the version of the aggregate.
func (g *Gateway) entriesAt(ctx context.Context, id es.AggregateID, seqNrs []uint64, head uint64) iter.Seq2[es.Entry, error] {
	return yielded(ctx, g, id, func(g *Gateway) iter.Seq2[es.Entry, error] {
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
						yield(es.Entry{}, &es.InconsistentError{ID: id, Head: head, Event: seqNr})
						return
					}
					entry, err := entryOf(event)
					if !yield(entry, err) || err != nil {
						return
					}
				}
			}
		}
	})
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
			ConsistentRead: aws.Bool(true), Limit: aws.Int32(scanLimit),
		}
		if pkey, skey, is := strings.Cut(after, keySeparator); is {
			scan.ExclusiveStartKey = item{"pkey": text(pkey), "skey": text(skey)}
		} else if after == journalEnd {
			return
		} else if after != "" {
			yield(es.JournalPage{}, fmt.Errorf("%q is no position in the journal", after))
			return
		}
		for pages := dynamodb.NewScanPaginator(g.client, scan); pages.HasMorePages(); {
			output, err := pages.NextPage(ctx)
			if err != nil {
				yield(es.JournalPage{}, Explain(ctx, err, "scan table %s", g.settings.JournalTable))
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
