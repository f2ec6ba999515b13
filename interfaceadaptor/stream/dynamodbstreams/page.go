package dynamodbstreams

import (
	"context"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"

	"example.com/threads/interfaceadaptor/stream"
	"example.com/threads/usecase/projection"
)

// page is an answer of the stream that has not been projected yet.
type page struct {
	records        []projection.Record
	read           int       // records of the stream, those included that are not handed over
	behind         position  // where the shard is once the page is projected
	next           string    // the iterator behind it
	oldest, newest time.Time // when its first and last record were written
	asked          time.Time // when it was asked for
}

// pageOf reads an answer that was asked for at the given time and position. It logs and counts what is no journal
// entry.
func (s *Source) pageOf(ctx context.Context, from position, asked time.Time, answer *dynamodbstreams.GetRecordsOutput) *page {
	p := &page{read: len(answer.Records), behind: from, next: aws.ToString(answer.NextShardIterator), asked: asked}
	var skipped, ignored int
	var reason error
	for _, change := range answer.Records {
		created := createdAt(change, asked)
		p.behind = position{kind: after, sequence: sequenceOf(change), at: created}
		if change.EventName != types.OperationTypeInsert || change.Dynamodb == nil {
			ignored++
			continue
		}
		record, err := entryOf(change.Dynamodb.NewImage).Record()
		if err != nil {
			skipped, reason = skipped+1, err
			continue
		}
		p.records = append(p.records, record)
		p.newest = later(created, occurredAt(change.Dynamodb.NewImage))
		if p.oldest.IsZero() {
			p.oldest = p.newest
		}
	}
	if answer.NextShardIterator == nil {
		p.behind = position{kind: ended, at: p.behind.at}
	}
	s.counters.Skipped.Add(int64(skipped))
	s.counters.Ignored.Add(int64(ignored))
	if skipped > 0 {
		s.log.WarnContext(ctx, "items of the journal table are skipped", "records", skipped, "up_to", p.behind.sequence, "last_reason", reason)
	}
	if ignored > 0 {
		s.log.WarnContext(ctx, "changes and deletions in the journal table are ignored: a journal is only added to", "records", ignored, "up_to", p.behind.sequence)
	}
	return p
}

// entryOf takes out of an item's new image what a journal entry has. A payload may be text or binary.
func entryOf(image map[string]types.AttributeValue) stream.Entry {
	entry := stream.Entry{PKey: text(image, "pkey"), AID: text(image, "aid"), SeqNr: number(image, "seq_nr")}
	switch value := image["payload"].(type) {
	case *types.AttributeValueMemberS:
		entry.Payload = []byte(value.Value)
	case *types.AttributeValueMemberB:
		entry.Payload = value.Value
	}
	return entry
}

func text(image map[string]types.AttributeValue, name string) string {
	if value, ok := image[name].(*types.AttributeValueMemberS); ok {
		return value.Value
	}
	return ""
}

func number(image map[string]types.AttributeValue, name string) string {
	if value, ok := image[name].(*types.AttributeValueMemberN); ok {
		return value.Value
	}
	return ""
}

// createdAt is when the stream took the record in, rounded down by the service: to the second, or, by DynamoDB Local,
// to the minute.
func createdAt(record types.Record, otherwise time.Time) time.Time {
	if record.Dynamodb == nil || record.Dynamodb.ApproximateCreationDateTime == nil {
		return otherwise
	}
	return *record.Dynamodb.ApproximateCreationDateTime
}

// occurredAt is when the entry's event happened, to the millisecond; the zero time where the item does not say it.
func occurredAt(image map[string]types.AttributeValue) time.Time {
	millis, err := strconv.ParseInt(number(image, "occurred_at"), 10, 64)
	if err != nil {
		return time.Time{}
	}
	return time.UnixMilli(millis)
}

func sequenceOf(record types.Record) string {
	if record.Dynamodb == nil {
		return ""
	}
	return aws.ToString(record.Dynamodb.SequenceNumber)
}
