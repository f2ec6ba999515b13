// extra:whole

package lambdatest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"
)

// Follow reads the stream of a table of DynamoDB Local from its beginning until ctx ends, and feeds its records.
// DynamoDB Local has one shard, so they are divided into so many shards by their partition keys, as DynamoDB does.
func Follow(ctx context.Context, config aws.Config, table string, shards int, feed func(Record)) error {
	described, err := dynamodb.NewFromConfig(config).DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: &table})
	if err != nil {
		return err
	}
	client := dynamodbstreams.NewFromConfig(config)
	stream, err := client.DescribeStream(ctx, &dynamodbstreams.DescribeStreamInput{StreamArn: described.Table.LatestStreamArn})
	if err != nil {
		return err
	}
	if found := len(stream.StreamDescription.Shards); found != 1 {
		return fmt.Errorf("the stream has %d shards: this is not DynamoDB Local", found)
	}
	from := &dynamodbstreams.GetShardIteratorInput{
		StreamArn: described.Table.LatestStreamArn, ShardId: stream.StreamDescription.Shards[0].ShardId, ShardIteratorType: types.ShardIteratorTypeTrimHorizon,
	}
	begin, err := client.GetShardIterator(ctx, from)
	if err != nil {
		return err
	}
	const poll = 50 * time.Millisecond // Lambda polls four times a second
	found := false
	for next := begin.ShardIterator; next != nil; {
		page, err := client.GetRecords(ctx, &dynamodbstreams.GetRecordsInput{ShardIterator: next})
		var trimmed *types.TrimmedDataAccessException
		if errors.As(err, &trimmed) && !found { // DynamoDB Local: the stream was empty when the iterator was made
			if begin, err = client.GetShardIterator(ctx, from); err == nil {
				next = begin.ShardIterator
				continue
			}
		}
		if err != nil {
			return err
		}
		next, found = page.NextShardIterator, found || len(page.Records) > 0
		for _, change := range page.Records {
			record, err := recordOf(change, shards)
			if err != nil {
				return err
			}
			feed(record)
		}
		if len(page.Records) == 0 {
			select {
			case <-time.After(poll):
			case <-ctx.Done():
			}
		}
	}
	return errors.New("the shard is closed")
}

// Records returns the first records of the stream, as [Follow] feeds them of one shard: at least so many, or those of a
// minute.
func Records(ctx context.Context, config aws.Config, table string, least int) (records []Record) {
	ctx, stop := context.WithTimeout(ctx, time.Minute)
	defer stop()
	_ = Follow(ctx, config, table, 1, func(r Record) {
		if records = append(records, r); len(records) == least {
			stop()
		}
	})
	return records
}

func recordOf(change types.Record, shards int) (Record, error) {
	partition, hasPartition := change.Dynamodb.Keys["pkey"].(*types.AttributeValueMemberS)
	sort, hasSort := change.Dynamodb.Keys["skey"].(*types.AttributeValueMemberS)
	if !hasPartition || !hasSort {
		return Record{}, errors.New("a record has no key")
	}
	hash := fnv.New32()
	_, _ = hash.Write([]byte(partition.Value))
	r := Record{
		Shard: fmt.Sprint("shard-", hash.Sum32()%uint32(shards)), Item: partition.Value + " " + sort.Value,
		Sequence: aws.ToString(change.Dynamodb.SequenceNumber), Created: aws.ToTime(change.Dynamodb.ApproximateCreationDateTime),
	}
	image := map[string]any{}
	for name, value := range change.Dynamodb.NewImage {
		switch value := value.(type) {
		case *types.AttributeValueMemberS:
			image[name] = map[string]any{"S": value.Value}
		case *types.AttributeValueMemberN:
			image[name] = map[string]any{"N": value.Value}
		case *types.AttributeValueMemberB:
			image[name] = map[string]any{"B": value.Value}
		default:
			return r, fmt.Errorf("the attribute %s is a %T", name, value)
		}
	}
	var err error
	r.JSON, err = RecordJSON(string(change.EventName), r.Sequence, r.Created, image)
	return r, err
}

// RecordJSON is a record as Lambda passes it on.
func RecordJSON(event, sequence string, created time.Time, image map[string]any) (json.RawMessage, error) {
	return json.Marshal(map[string]any{
		"eventID": sequence, "eventName": event, "eventVersion": "1.1", "eventSource": "aws:dynamodb", "awsRegion": "us-east-1",
		"eventSourceARN": "arn:aws:dynamodb:us-east-1:000000000000:table/journal/stream/2026-01-01T00:00:00.000",
		"dynamodb": map[string]any{
			"ApproximateCreationDateTime": created.Unix(), "Keys": map[string]any{"pkey": image["pkey"], "skey": image["skey"]}, "NewImage": image,
			"SequenceNumber": sequence, "SizeBytes": 1, "StreamViewType": "NEW_IMAGE",
		},
	})
}
