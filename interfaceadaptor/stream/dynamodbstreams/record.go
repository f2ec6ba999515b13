package dynamodbstreams

import (
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"

	"example.com/threads/interfaceadaptor/stream"
	"example.com/threads/usecase/projection"
)

// entryOf takes out of an item's new image what a journal entry has. A payload may be text or binary.
func entryOf(image map[string]types.AttributeValue) stream.Entry {
	var entry stream.Entry
	text := func(name string) string {
		if value, ok := image[name].(*types.AttributeValueMemberS); ok {
			return value.Value
		}
		return ""
	}
	entry.PKey, entry.AID = text("pkey"), text("aid")
	if value, ok := image["seq_nr"].(*types.AttributeValueMemberN); ok {
		entry.SeqNr = value.Value
	}
	switch value := image["payload"].(type) {
	case *types.AttributeValueMemberS:
		entry.Payload = []byte(value.Value)
	case *types.AttributeValueMemberB:
		entry.Payload = value.Value
	}
	return entry
}

// createdAt is when the stream took the record in, rounded down by the service: to the second, or, by DynamoDB Local, to
// the minute.
func createdAt(record types.Record, otherwise time.Time) time.Time {
	if record.Dynamodb == nil || record.Dynamodb.ApproximateCreationDateTime == nil {
		return otherwise
	}
	return *record.Dynamodb.ApproximateCreationDateTime
}

// happenedAt is the best that is known of when a record was written: its event says it to the microsecond.
func happenedAt(record projection.Record, created time.Time) time.Time {
	if record.Err == nil && record.Event.OccurredAt.After(created) {
		return record.Event.OccurredAt
	}
	return created
}

// writtenAt is happenedAt of a record that is looked at for its time alone.
func writtenAt(record types.Record) time.Time {
	created := createdAt(record, time.Now())
	if record.Dynamodb == nil {
		return created
	}
	entry, err := entryOf(record.Dynamodb.NewImage).Record()
	if err != nil {
		return created
	}
	return happenedAt(entry, created)
}

func sequenceOf(record types.Record) string {
	if record.Dynamodb == nil {
		return ""
	}
	return aws.ToString(record.Dynamodb.SequenceNumber)
}
