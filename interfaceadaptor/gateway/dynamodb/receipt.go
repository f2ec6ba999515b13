package dynamodb

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"example.com/threads/interfaceadaptor/eventstore"
)

// Receipt reads consistently. An expired receipt counts as missing, even if DynamoDB has not deleted it yet.
func (g *Gateway) Receipt(ctx context.Context, tenant, commandID string) (eventstore.Receipt, bool, error) {
	output, err := g.client.GetItem(ctx, &dynamodb.GetItemInput{
		TableName:      aws.String(g.settings.SnapshotTable),
		Key:            g.receiptKey(tenant, commandID),
		ConsistentRead: aws.Bool(true),
	})
	if err != nil {
		return eventstore.Receipt{}, false, explainf(ctx, err, "read the receipt of command %s", commandID)
	}
	if len(output.Item) == 0 {
		return eventstore.Receipt{}, false, nil
	}
	receipt, err := receiptOf(commandID, output.Item)
	if err != nil || !receipt.ExpiresAt.After(g.settings.Clock()) {
		return eventstore.Receipt{}, false, err
	}
	return receipt, true, nil
}

// receiptPut writes a receipt, on the condition that there is none or that it has expired.
func (g *Gateway) receiptPut(tenant string, receipt eventstore.Receipt) *types.Put {
	put := g.receiptKey(tenant, receipt.CommandID)
	put["fingerprint"] = text(receipt.Fingerprint)
	put["answer"] = binary(receipt.Answer)
	put["ttl"] = number(ceilSeconds(receipt.ExpiresAt))
	return &types.Put{
		TableName:                           aws.String(g.settings.SnapshotTable),
		Item:                                put,
		ConditionExpression:                 aws.String("attribute_not_exists(pkey) OR #ttl <= :now"),
		ExpressionAttributeNames:            map[string]string{"#ttl": "ttl"},
		ExpressionAttributeValues:           item{":now": number(g.settings.Clock().Unix())},
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	}
}

func receiptOf(commandID string, found item) (eventstore.Receipt, error) {
	ttl, err := found.number("ttl")
	if err != nil {
		return eventstore.Receipt{}, err
	}
	return eventstore.Receipt{
		CommandID:   commandID,
		Fingerprint: found.text("fingerprint"),
		Answer:      found.bytes("answer"),
		ExpiresAt:   time.Unix(int64(ttl), 0).UTC(),
	}, nil
}

// ceilSeconds returns the time in seconds since 1970, rounded up, so that a ttl is never early.
func ceilSeconds(t time.Time) int64 {
	return t.Add(time.Second - time.Nanosecond).Unix()
}
