package dynamodb

import (
	"context"
	"errors"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"example.com/threads/es"
)

// partBytes is the maximum number of bytes of a snapshot in one item; DynamoDB's limit for an item is 400 KB.
const partBytes = 300_000

// SaveSnapshot writes the parts, then the main item, which completes the snapshot, then the head's pointer, which makes
// it the latest. A process that dies in between leaves unused parts, which only cost storage. A pointer to a broken
// snapshot is replaced.
func (g *Gateway) SaveSnapshot(ctx context.Context, id es.AggregateID, snapshot es.Snapshot) error {
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
			err = g.trimSnapshots(ctx, id, latest)
		}
	}
	return explain(ctx, err, "save a snapshot of %s", id)
}

// writeSnapshot stores a snapshot. A complete one of the same version is kept, so that it never changes while it is
// read, but not one of the documents' form, which may expire.
func (g *Gateway) writeSnapshot(ctx context.Context, id es.AggregateID, snapshot es.Snapshot) error {
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
	if _, err := g.readSnapshot(ctx, id, snapshot.Version); errors.Is(err, errBroken) || isFormer(exists.Item) {
		put.ConditionExpression, put.ReturnValuesOnConditionCheckFailure = nil, ""
		_, err := g.client.PutItem(ctx, put)
		return err
	}
	if item(exists.Item).text("checksum") != packed.Checksum {
		return g.deleteParts(ctx, main)
	}
	return nil
}

// pointTo moves the head's pointer forward without changing the version. It moves the pointer back only if no snapshot
// can be read there: from old, if old is not before version, or from a version beyond the journal. It returns the
// version that the head points to afterwards.
func (g *Gateway) pointTo(ctx context.Context, id es.AggregateID, version, old uint64) (uint64, error) {
	err := retryContended(ctx, func() error { // a concurrent command may be writing the head
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
		if isFormer(newer.Item) {
			if err := g.adopt(ctx, id, newer.Item); err != nil {
				return 0, err
			}
			return g.pointTo(ctx, id, version, old)
		}
		return item(newer.Item).number("snapshot_version")
	}
	return version, err
}
