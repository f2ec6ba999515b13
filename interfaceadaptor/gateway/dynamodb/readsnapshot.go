package dynamodb

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"example.com/threads/interfaceadaptor/eventstore"
	"example.com/threads/interfaceadaptor/gateway/internal/packing"
)

// errBroken says that a snapshot is missing, wholly or in part, or not what was written.
var errBroken = errors.New("the snapshot is not whole")

// readSnapshot reads the item at seqNr, and its parts, consistently: a snapshot, or at headSeqNr the state after event
// 1. It fails with errBroken when they do not make up a snapshot.
func (g *Gateway) readSnapshot(ctx context.Context, id eventstore.AggregateID, seqNr uint64) (eventstore.Snapshot, error) {
	main, err := g.getItem(ctx, g.key(id, seqNr))
	if err != nil {
		return eventstore.Snapshot{}, err
	}
	stored := main.bytes("payload")
	if stored == nil {
		return eventstore.Snapshot{}, fmt.Errorf("%w: it is not there", errBroken)
	}
	parts, err := partKeys(main)
	if err != nil {
		return eventstore.Snapshot{}, fmt.Errorf("%w: %w", errBroken, err)
	}
	for i, key := range parts {
		part, err := g.getItem(ctx, key)
		if err != nil {
			return eventstore.Snapshot{}, err
		}
		if len(part) == 0 {
			return eventstore.Snapshot{}, fmt.Errorf("%w: part %d of %d is not there", errBroken, i+1, len(parts))
		}
		stored = append(stored, part.bytes("payload")...)
	}
	payload, err := g.packer.Unpack(packing.Packed{Bytes: stored, Encoding: main.text("encoding"), Checksum: main.text("checksum")})
	if err != nil {
		return eventstore.Snapshot{}, fmt.Errorf("%w: %w", errBroken, err)
	}
	return eventstore.Snapshot{Version: max(seqNr, 1), Payload: payload}, nil
}

func (g *Gateway) getItem(ctx context.Context, key item) (item, error) {
	output, err := g.client.GetItem(ctx, &dynamodb.GetItemInput{
		TableName:      aws.String(g.settings.SnapshotTable),
		Key:            key,
		ConsistentRead: aws.Bool(true),
	})
	if err != nil {
		return nil, err
	}
	return output.Item, nil
}
