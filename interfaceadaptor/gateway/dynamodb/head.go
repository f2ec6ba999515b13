package dynamodb

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"example.com/threads/interfaceadaptor/eventstore"
)

// headSeqNr is the head's place among an aggregate's items in the snapshot table.
const headSeqNr = 0

// Head reads the head item without its payload, consistently.
func (g *Gateway) Head(ctx context.Context, id eventstore.AggregateID) (eventstore.Head, error) {
	output, err := g.client.GetItem(ctx, &dynamodb.GetItemInput{
		TableName:                aws.String(g.settings.SnapshotTable),
		Key:                      g.key(id, headSeqNr),
		ProjectionExpression:     aws.String("#version, #snapshot_version"),
		ExpressionAttributeNames: map[string]string{"#version": "version", "#snapshot_version": "snapshot_version"},
		ConsistentRead:           aws.Bool(true),
	})
	if err != nil {
		return eventstore.Head{}, explain(ctx, err, "read the head of", id)
	}
	return headOf(output.Item)
}

func headOf(found item) (eventstore.Head, error) {
	version, err := found.number("version")
	if err != nil {
		return eventstore.Head{}, err
	}
	snapshot, err := found.number("snapshot_version")
	if err != nil {
		return eventstore.Head{}, err
	}
	return eventstore.Head{Version: version, SnapshotVersion: snapshot}, nil
}
