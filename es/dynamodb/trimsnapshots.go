package dynamodb

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"example.com/threads/es"
	"example.com/threads/es/internal/packing"
)

// trimSnapshots deletes the snapshots before the latest, beyond the number to keep, or sets their time to live. The
// index lists them; one that it does not show yet is trimmed the next time.
func (g *Gateway) trimSnapshots(ctx context.Context, id es.AggregateID, latest uint64) error {
	if latest == 0 {
		return nil // the head was deleted
	}
	kept := 0
	for main, err := range g.snapshotIndex(ctx, id, latest-1) {
		switch {
		case err != nil:
			return err
		case kept < g.settings.SnapshotKeep:
			kept++
		case g.settings.SnapshotTTL == 0:
			if err := g.deleteSnapshot(ctx, main); err != nil {
				return err
			}
		case main["ttl"] == nil:
			if err := g.expireSnapshot(ctx, main); err != nil {
				return err
			}
		}
	}
	return nil
}

// deleteSnapshot deletes the parts first and the main item last, so that an interrupted deletion can be found and
// completed.
func (g *Gateway) deleteSnapshot(ctx context.Context, main item) error {
	if err := g.deleteParts(ctx, main); err != nil {
		return err
	}
	return g.deleteItem(ctx, keyOf(main))
}

func (g *Gateway) deleteParts(ctx context.Context, main item) error {
	parts, err := partKeys(main)
	for _, part := range parts {
		if err := g.deleteItem(ctx, part); err != nil {
			return err
		}
	}
	return err
}

func (g *Gateway) deleteItem(ctx context.Context, key item) error {
	_, err := g.client.DeleteItem(ctx, &dynamodb.DeleteItemInput{TableName: aws.String(g.settings.SnapshotTable), Key: key})
	return err
}

// expireSnapshot sets the time to live of the parts first and of the main item last, for the same reason.
func (g *Gateway) expireSnapshot(ctx context.Context, main item) error {
	keys, err := partKeys(main)
	if err != nil {
		return err
	}
	ttl := number(ceilSeconds(g.settings.Clock().Add(g.settings.SnapshotTTL)))
	for _, key := range append(keys, keyOf(main)) {
		_, err := g.client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
			TableName:        aws.String(g.settings.SnapshotTable),
			Key:              key,
			UpdateExpression: aws.String("SET #ttl = :ttl"),
			// an update must not create a deleted item again
			ConditionExpression:       aws.String("attribute_exists(pkey)"),
			ExpressionAttributeNames:  map[string]string{"#ttl": "ttl"},
			ExpressionAttributeValues: item{":ttl": ttl},
		})
		var gone *types.ConditionalCheckFailedException
		if err != nil && !errors.As(err, &gone) {
			return err
		}
	}
	return nil
}

func keyOf(main item) item { return item{"pkey": main["pkey"], "skey": main["skey"]} }

// partKeys returns the keys of the further items of a snapshot.
func partKeys(main item) ([]item, error) {
	parts, err := main.number("parts")
	if err != nil {
		return nil, err
	}
	if parts > packing.MaxState/partBytes {
		return nil, fmt.Errorf("a snapshot cannot have %d parts", parts)
	}
	keys := make([]item, parts)
	for i := range keys {
		keys[i] = partKey(main, main.text("checksum"), i+1)
	}
	return keys, nil
}
