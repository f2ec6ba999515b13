package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/oklog/ulid/v2"
)

// writeDistinct measures clients that post to a thread each.
func writeDistinct(ctx context.Context, labs []*lab) (found []reading, err error) {
	s, err := dynamoDBStage(ctx, labs)
	defer s.stop()
	if err != nil {
		return nil, err
	}
	var taken turns
	for _, clients := range []int{1, 8, mostClients} {
		if taken, err = s.take(ctx, fmt.Sprintf("write.distinct.c%d", clients), clients, false, 0); err != nil {
			return nil, err
		}
		found = append(found, taken.rates()...)
	}
	open, err := s.open(ctx, "write.distinct.open", taken)
	return append(found, open...), err
}

// writeHot measures clients that post to one thread. With one client it would be write.distinct.c1.
func writeHot(ctx context.Context, labs []*lab) (found []reading, err error) {
	s, err := dynamoDBStage(ctx, labs)
	defer s.stop()
	if err != nil {
		return nil, err
	}
	for _, clients := range []int{8, mostClients} {
		taken, err := s.take(ctx, fmt.Sprintf("write.hot.c%d", clients), clients, true, 0)
		if err != nil {
			return nil, err
		}
		found = append(found, taken.rates()...)
	}
	return found, nil
}

// dynamoDBStage starts the three programs of each build. The stage is to be stopped after an error, too.
func dynamoDBStage(ctx context.Context, labs []*lab) (*stage, error) {
	s := newStage(labs)
	var ours *testTables
	for i, l := range labs {
		system, tables, _, err := l.startOnDynamoDB(ctx)
		if err != nil {
			return s, err
		}
		if err := s.add(ctx, system); err != nil {
			return s, err
		}
		if i == 0 {
			ours = tables
		}
	}
	raw, err := newTables(ctx, true)
	if err != nil {
		return s, err
	}
	// A post whose items the raw transactions write.
	if _, err := s.systems[0].post(ctx, job{user: s.user, clients: 1, threads: s.threads[0][:1], duration: labs[0].duration / turnShare, blind: true}); err != nil {
		return s, err
	}
	event, head, err := ours.postOf(ctx, s.threads[0][0])
	if err != nil {
		return s, err
	}
	s.raw, s.without = raw.rawTransactions(event, head), local
	s.yardstick = "raw transactions of the same two items by as many clients, which ask for the capacity, too, on tables with a stream"
	return s, s.warmUp(ctx)
}

type item = map[string]types.AttributeValue

func text(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }

func number(n int) types.AttributeValue { return &types.AttributeValueMemberN{Value: strconv.Itoa(n)} }

// postOf returns the items of a thread's last post: the event and the head.
func (t *testTables) postOf(ctx context.Context, thread string) (event, head item, err error) {
	aid := "thread-" + thread
	found, err := t.client.Query(ctx, &sdk.QueryInput{
		TableName: &t.journal, IndexName: &t.index, KeyConditionExpression: aws.String("aid = :aid"),
		ExpressionAttributeValues: item{":aid": text(aid)}, ScanIndexForward: aws.Bool(false), Limit: aws.Int32(1),
	})
	if err != nil {
		return nil, nil, err
	}
	if len(found.Items) == 0 {
		return nil, nil, errors.New("the journal does not have the thread " + thread)
	}
	event = found.Items[0]
	headed, err := t.client.GetItem(ctx, &sdk.GetItemInput{TableName: &t.snapshot, Key: item{"pkey": event["pkey"], "skey": text(aid + "-0")}})
	if err == nil && len(headed.Item) == 0 {
		err = errors.New("the snapshot table does not have the head of thread " + thread)
	}
	if err != nil {
		return nil, nil, err
	}
	return event, headed.Item, nil
}

// rawTransactions returns a function that writes the two items of a post with the calls of a post: it updates a head
// under a condition and inserts an event. Each client has a head of its own.
func (t *testTables) rawTransactions(event, head item) func(ctx context.Context, client int) error {
	type line struct {
		aid     string
		version int
	}
	lines := make([]line, mostClients)
	for i := range lines {
		lines[i].aid = "thread-" + ulid.Make().String()
	}
	under := func(of item, line line, seqNr int) item {
		own := maps.Clone(of)
		own["aid"], own["seq_nr"], own["skey"] = text(line.aid), number(seqNr), text(line.aid+"-"+strconv.Itoa(seqNr))
		return own
	}
	absent, old := aws.String("attribute_not_exists(pkey)"), types.ReturnValuesOnConditionCheckFailureAllOld
	return func(ctx context.Context, client int) error {
		line := &lines[client]
		headed := under(head, *line, 0)
		headed["version"] = number(line.version + 1)
		lock := types.TransactWriteItem{Put: &types.Put{
			TableName: &t.snapshot, Item: headed, ConditionExpression: absent, ReturnValuesOnConditionCheckFailure: old,
		}}
		if line.version > 0 {
			lock = types.TransactWriteItem{Update: &types.Update{
				TableName: &t.snapshot, Key: item{"pkey": headed["pkey"], "skey": headed["skey"]},
				UpdateExpression: aws.String("SET version = :next REMOVE asked"), ConditionExpression: aws.String("version = :expected"),
				ExpressionAttributeValues:           item{":next": number(line.version + 1), ":expected": number(line.version)},
				ReturnValuesOnConditionCheckFailure: old,
			}}
		}
		_, err := t.client.TransactWriteItems(ctx, &sdk.TransactWriteItemsInput{
			TransactItems: []types.TransactWriteItem{lock, {Put: &types.Put{
				TableName: &t.journal, Item: under(event, *line, line.version+1), ConditionExpression: absent, ReturnValuesOnConditionCheckFailure: old,
			}}},
			ReturnConsumedCapacity: types.ReturnConsumedCapacityIndexes,
		})
		line.version++
		return err
	}
}
