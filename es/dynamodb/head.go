package dynamodb

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"example.com/threads/es"
)

// headSeqNr is the seq_nr of the head item in the snapshot table.
const headSeqNr = 0

// Head reads the head item without its payload, consistently.
func (g *Gateway) Head(ctx context.Context, id es.AggregateID) (es.Head, error) {
	found, err := g.getItem(ctx, g.settings.SnapshotTable, g.key(id, headSeqNr), "seq_nr", formerNumber, "version", "snapshot_version")
	if err != nil {
		return es.Head{}, explain(ctx, err, "read the head of %s", id)
	}
	return g.headOf(ctx, id, found)
}

// headOf decodes a head item. An invalid snapshot pointer is logged and read as 0, which only costs time; the next
// snapshot corrects it.
func (g *Gateway) headOf(ctx context.Context, id es.AggregateID, found item) (es.Head, error) {
	found = readFormerHead(found)
	version, err := found.number("version")
	if err != nil {
		return es.Head{}, &es.InconsistentError{ID: id, Cause: err}
	}
	snapshot, err := found.number("snapshot_version")
	if err == nil && snapshot > version {
		err = fmt.Errorf("snapshot_version %d is beyond version %d", snapshot, version)
	}
	if err != nil {
		snapshot = 0
		if g.said.First(id.Tenant.String() + " " + id.String()) {
			g.logger.WarnContext(ctx, "ignored a head's invalid pointer to its latest snapshot; the next snapshot will correct it",
				"tenant", id.Tenant, "aggregate", id.String(), "error", err)
		}
	}
	return es.Head{Version: version, SnapshotVersion: snapshot}, nil
}

// Verify reads the event after the head's version.
func (g *Gateway) Verify(ctx context.Context, id es.AggregateID, head es.Head) error {
	next := head.Version + 1
	found, err := g.getItem(ctx, g.settings.JournalTable, g.key(id, next), "event_id")
	if err != nil || found == nil {
		return explain(ctx, err, "read the journal of %s", id)
	}
	return g.contradicts(ctx, id, head.Version, next)
}

// contradicts returns an error if the head is still at the version although the journal has a later event. Both are
// written in one transaction, so a head that is read after the event must include it.
func (g *Gateway) contradicts(ctx context.Context, id es.AggregateID, version, event uint64) error {
	head, err := g.Head(ctx, id)
	if err == nil && head.Version == version {
		err = &es.InconsistentError{ID: id, Head: version, Event: event}
	}
	return err
}

// AskForTurn marks the head. The mark only affects an Append with Heed.
func (g *Gateway) AskForTurn(ctx context.Context, id es.AggregateID) error {
	err := retryContended(ctx, func() error {
		_, err := g.client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
			TableName:        aws.String(g.settings.SnapshotTable),
			Key:              g.key(id, headSeqNr),
			UpdateExpression: aws.String("SET #asked = :asked"),
			// an update must not create a deleted head again
			ConditionExpression:       aws.String("attribute_exists(pkey)"),
			ExpressionAttributeNames:  map[string]string{"#asked": "asked"},
			ExpressionAttributeValues: item{":asked": &types.AttributeValueMemberBOOL{Value: true}},
		})
		return err
	})
	var gone *types.ConditionalCheckFailedException
	if errors.As(err, &gone) {
		return nil
	}
	return explain(ctx, err, "ask for a turn at %s", id)
}
