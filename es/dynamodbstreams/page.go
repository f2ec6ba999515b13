package dynamodbstreams

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"

	"example.com/threads/es/projection"
)

// page is an answer of the stream that is not projected yet.
type page struct {
	records        []projection.Record
	read           int       // number of stream records, including those that are not handed over
	position       position  // the shard's position after the page
	next           string    // the iterator after it
	oldest, newest time.Time // times of its first and last record
	asked          time.Time // when it was requested
}

// pageOf converts an answer that was requested at the given time and position. Items that are not journal entries are
// logged and counted.
func (s *Source) pageOf(ctx context.Context, from position, asked time.Time, answer *dynamodbstreams.GetRecordsOutput) *page {
	p := &page{read: len(answer.Records), position: from, next: aws.ToString(answer.NextShardIterator), asked: asked}
	var skipped, ignored int
	var reason error
	for _, change := range answer.Records {
		created := createdAt(change, asked)
		p.position = position{kind: after, sequence: sequenceOf(change), at: created}
		if change.EventName != types.OperationTypeInsert || change.Dynamodb == nil {
			ignored++
			continue
		}
		record, err := s.recordOf(change.Dynamodb.NewImage)
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
		p.position = position{kind: ended, at: p.position.at}
	}
	s.counters.Skipped.Add(int64(skipped))
	s.counters.Ignored.Add(int64(ignored))
	if skipped > 0 {
		s.log.WarnContext(ctx, "skipped items of the journal table that are not journal entries", "records", skipped, "up_to", p.position.sequence, "last_reason", reason)
	}
	if ignored > 0 {
		s.log.WarnContext(ctx, "ignored updates and deletions in the journal table: entries must never change", "records", ignored, "up_to", p.position.sequence)
	}
	return p
}

// recordOf converts an item's new image, whose payload may be text or binary. An item that is not where programs look
// for it is no entry: a gap would not be filled from it, and no command finds its aggregate.
func (s *Source) recordOf(image map[string]types.AttributeValue) (projection.Record, error) {
	key, seqNr, err := s.ports.Places.Place(text(image, "pkey"), text(image, "skey"))
	if err == nil {
		err = key.Check()
	}
	if err == nil && seqNr == 0 {
		err = errors.New("it has the number 0")
	}
	record := projection.Record{Key: key, SeqNr: seqNr}
	switch value := image["payload"].(type) {
	case *types.AttributeValueMemberS:
		record.Payload = []byte(value.Value)
	case *types.AttributeValueMemberB:
		record.Payload = value.Value
	}
	return record, err
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

// createdAt returns when the stream received the record. The service rounds it down to the second, DynamoDB Local to
// the minute.
func createdAt(record types.Record, otherwise time.Time) time.Time {
	if record.Dynamodb == nil || record.Dynamodb.ApproximateCreationDateTime == nil {
		return otherwise
	}
	return *record.Dynamodb.ApproximateCreationDateTime
}

// occurredAt returns when the entry's event happened, to the millisecond; zero if the item does not contain it.
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
