package dynamodb

import (
	"context"
	"errors"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"example.com/threads/interfaceadaptor/eventstore"
)

// partBytes is how much of a snapshot one item holds: an item takes 400 KB.
const partBytes = 300_000

// SaveSnapshot writes the parts, then the main item, which makes the snapshot complete, then the head's pointer, which
// makes it the latest. A process that dies in between leaves parts that nothing refers to: they cost their storage and
// nothing else. A pointer that leads to no whole snapshot is one to be mended.
func (g *Gateway) SaveSnapshot(ctx context.Context, id eventstore.AggregateID, snapshot eventstore.Snapshot) error {
	head, err := g.Head(ctx, id)
	if err == nil {
		err = head.Check(snapshot)
	}
	if err == nil && snapshot.Version <= head.SnapshotVersion {
		if _, err = g.readSnapshot(ctx, id, head.SnapshotVersion); err == nil {
			return nil
		}
		if errors.Is(err, errBroken) {
			err = nil
		}
	}
	if err == nil {
		err = g.writeSnapshot(ctx, id, snapshot)
	}
	if err == nil {
		var latest uint64
		if latest, err = g.pointTo(ctx, id, snapshot.Version, head.SnapshotVersion); err == nil {
			err = g.letGo(ctx, id, latest)
		}
	}
	return explain(ctx, err, "save a snapshot of", id)
}

// writeSnapshot stores a snapshot. One of the same version that is complete already stays, so that what a reader puts
// together never changes under its hands.
func (g *Gateway) writeSnapshot(ctx context.Context, id eventstore.AggregateID, snapshot eventstore.Snapshot) error {
	packed := g.packer.Pack(snapshot.Payload)
	pieces := slices.Collect(slices.Chunk(packed.Bytes, partBytes))
	main := g.key(id, snapshot.Version)
	main["aid"] = text(id.String())
	main["seq_nr"] = number(snapshot.Version)
	main["payload"] = binary(pieces[0])
	main["encoding"] = text(packed.Encoding)
	main["checksum"] = text(packed.Checksum)
	if len(pieces) > 1 {
		main["parts"] = number(len(pieces) - 1)
	}
	for i, piece := range pieces[1:] {
		part := partKey(main, packed.Checksum, i+1)
		part["payload"] = binary(piece)
		_, err := g.client.PutItem(ctx, &dynamodb.PutItemInput{TableName: aws.String(g.settings.SnapshotTable), Item: part})
		if err != nil {
			return err
		}
	}
	put := &dynamodb.PutItemInput{
		TableName:                           aws.String(g.settings.SnapshotTable),
		Item:                                main,
		ConditionExpression:                 aws.String("attribute_not_exists(pkey)"),
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	}
	_, err := g.client.PutItem(ctx, put)
	var exists *types.ConditionalCheckFailedException
	if !errors.As(err, &exists) {
		return err
	}
	if _, err := g.readSnapshot(ctx, id, snapshot.Version); errors.Is(err, errBroken) {
		put.ConditionExpression, put.ReturnValuesOnConditionCheckFailure = nil, ""
		_, err := g.client.PutItem(ctx, put)
		return err
	}
	if item(exists.Item).text("checksum") != packed.Checksum {
		return g.deleteParts(ctx, main)
	}
	return nil
}

// pointTo moves the head's pointer forward, and leaves the version alone. It goes back only from where no snapshot can be
// read: from old, if that is not before version, and from what is no version that the journal has reached. It returns what the
// head points to afterwards.
func (g *Gateway) pointTo(ctx context.Context, id eventstore.AggregateID, version, old uint64) (uint64, error) {
	err := retryContended(ctx, func() error { // a command that is writing the head is in the way for a moment
		_, err := g.client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
			TableName:        aws.String(g.settings.SnapshotTable),
			Key:              g.key(id, headSeqNr),
			UpdateExpression: aws.String("SET #snapshot_version = :version"),
			ConditionExpression: aws.String("#version >= :version AND (attribute_not_exists(#snapshot_version) OR #snapshot_version < :version " +
				"OR #snapshot_version = :old OR #snapshot_version > #version OR NOT attribute_type(#snapshot_version, :number))"),
			ExpressionAttributeNames: map[string]string{
				"#version": "version", "#snapshot_version": "snapshot_version",
			},
			ExpressionAttributeValues:           item{":version": number(version), ":old": number(old), ":number": text("N")},
			ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
		})
		return err
	})
	var newer *types.ConditionalCheckFailedException
	if errors.As(err, &newer) {
		return item(newer.Item).number("snapshot_version")
	}
	return version, err
}
