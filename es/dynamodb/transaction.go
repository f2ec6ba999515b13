package dynamodb

import (
	"crypto/rand"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"example.com/threads/es"
)

// maxTransaction is the maximum size of a transaction in bytes: DynamoDB's limit of 4 MB, less the error of the
// estimate.
const maxTransaction = 4_000_000

// transaction returns the write as a DynamoDB transaction: the head, then the entries, then the receipts. It is built
// once and retried unchanged, because the token is only valid for exactly these bytes.
func (g *Gateway) transaction(write es.Append) (*dynamodb.TransactWriteItemsInput, error) {
	if err := write.Check(); err != nil {
		return nil, err
	}
	items := []types.TransactWriteItem{g.lock(write)}
	size := len(write.FirstSnapshot)
	for _, entry := range write.Entries {
		event := g.eventItem(write.ID, entry)
		size += event.size()
		items = append(items, types.TransactWriteItem{Put: &types.Put{
			TableName:                           aws.String(g.settings.JournalTable),
			Item:                                event,
			ConditionExpression:                 aws.String("attribute_not_exists(pkey)"),
			ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
		}})
	}
	for _, receipt := range write.Receipts {
		put := g.receiptPut(write, receipt)
		size += item(put.Item).size()
		items = append(items, types.TransactWriteItem{Put: put})
	}
	if size > maxTransaction {
		return nil, fmt.Errorf("%d bytes do not fit in one transaction of %d; append fewer entries at once", size, maxTransaction)
	}
	return &dynamodb.TransactWriteItemsInput{TransactItems: items, ClientRequestToken: aws.String(rand.Text())}, nil
}

// lock updates the head from the expected version, or creates it.
func (g *Gateway) lock(write es.Append) types.TransactWriteItem {
	next := write.NextVersion()
	if write.ExpectedVersion > 0 {
		condition := "#version = :expected"
		if write.Heed {
			condition += " AND attribute_not_exists(#asked)"
		}
		return types.TransactWriteItem{Update: &types.Update{
			TableName:                           aws.String(g.settings.SnapshotTable),
			Key:                                 g.key(write.ID, headSeqNr),
			UpdateExpression:                    aws.String("SET #version = :next REMOVE #asked"),
			ConditionExpression:                 aws.String(condition),
			ExpressionAttributeNames:            map[string]string{"#version": "version", "#asked": "asked"},
			ExpressionAttributeValues:           item{":next": number(next), ":expected": number(write.ExpectedVersion)},
			ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
		}}
	}
	head := g.key(write.ID, headSeqNr)
	head["aid"] = text(write.ID.String())
	head["seq_nr"] = number(uint64(headSeqNr))
	head["version"] = number(next)
	if write.FirstSnapshot != nil {
		head["payload"] = text(string(write.FirstSnapshot))
	}
	return types.TransactWriteItem{Put: &types.Put{
		TableName:                           aws.String(g.settings.SnapshotTable),
		Item:                                head,
		ConditionExpression:                 aws.String("attribute_not_exists(pkey)"),
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	}}
}
