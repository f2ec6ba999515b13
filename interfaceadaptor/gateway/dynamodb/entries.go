package dynamodb

import (
	"context"
	"iter"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"example.com/threads/interfaceadaptor/eventstore"
)

// Entries reads the index, which is cheap, and never believes it: a number that it leaves out - at the end or in the
// middle - is read from the table by its key, consistently. No more than a page is in memory.
func (g *Gateway) Entries(ctx context.Context, id eventstore.AggregateID, after, upTo uint64) iter.Seq2[eventstore.Entry, error] {
	return func(yield func(eventstore.Entry, error) bool) {
		if after >= upTo {
			return
		}
		page := new(pageSize)
		next := after + 1
		fill := func(end uint64) (goOn bool) { // up to, but without end
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
				yield(eventstore.Entry{}, err)
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

// entriesByIndex yields what the index shows, in order, possibly with holes.
func (g *Gateway) entriesByIndex(
	ctx context.Context, page *pageSize, id eventstore.AggregateID, from, to uint64,
) iter.Seq2[eventstore.Entry, error] {
	return func(yield func(eventstore.Entry, error) bool) {
		query := &dynamodb.QueryInput{
			TableName:                 aws.String(g.settings.JournalTable),
			IndexName:                 aws.String(journalIndex),
			KeyConditionExpression:    aws.String(indexKey),
			FilterExpression:          aws.String(indexFilter),
			ExpressionAttributeNames:  indexNames(),
			ExpressionAttributeValues: g.indexValues(id, from, to),
		}
		for {
			query.Limit = aws.Int32(int32(page.items()))
			output, err := g.client.Query(ctx, query)
			if err != nil {
				yield(eventstore.Entry{}, explain(ctx, err, "query the journal of", id))
				return
			}
			for _, found := range output.Items {
				page.saw(found)
				entry, err := entryOf(found)
				if !yield(entry, err) || err != nil {
					return
				}
			}
			if query.ExclusiveStartKey = output.LastEvaluatedKey; len(query.ExclusiveStartKey) == 0 {
				return
			}
		}
	}
}

// entriesByKey yields the entries from one number up to, but without, another. One that is not there is an error: a head
// has shown that all up to upTo were written.
func (g *Gateway) entriesByKey(
	ctx context.Context, page *pageSize, id eventstore.AggregateID, from, end, upTo uint64,
) iter.Seq2[eventstore.Entry, error] {
	return func(yield func(eventstore.Entry, error) bool) {
		for from < end {
			to := min(end, from+uint64(min(page.items(), maxBatchGet)))
			found, err := g.getEntries(ctx, id, from, to)
			if err != nil {
				yield(eventstore.Entry{}, explain(ctx, err, "read the journal of", id))
				return
			}
			for ; from < to; from++ {
				event, exists := found[sortKey(id, from)]
				if !exists {
					yield(eventstore.Entry{}, &eventstore.InconsistentError{ID: id, Head: upTo, Event: from})
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
}
