package dynamodb

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"example.com/threads/es"
)

// headAttributes are the attributes of a head beside its key and payload.
var headAttributes = []string{"aid", "seq_nr", "version", "snapshot_version"}

// StoredHead implements [es.Maintainer].
func (g *Gateway) StoredHead(ctx context.Context, id es.AggregateID) (es.StoredHead, error) {
	found, err := g.readStoredHead(ctx, id)
	return storedHeadOf(id, found), explain(ctx, err, "read the head of %s", id)
}

func (g *Gateway) readStoredHead(ctx context.Context, id es.AggregateID) (item, error) {
	return g.getItem(ctx, g.settings.SnapshotTable, g.key(id, headSeqNr), append([]string{"pkey", formerNumber}, headAttributes...)...)
}

func storedHeadOf(id es.AggregateID, found item) es.StoredHead {
	if len(found) == 0 {
		return es.StoredHead{}
	}
	found = readFormerHead(found)
	stored := es.StoredHead{Exists: true}
	stored.Faults = expect(stored.Faults, found, "aid", text(id.String()))
	stored.Faults = expect(stored.Faults, found, "seq_nr", number(headSeqNr))
	for attribute, into := range map[string]*uint64{"version": &stored.Version, "snapshot_version": &stored.SnapshotVersion} {
		value, err := found.number(attribute)
		if err != nil || attribute == "version" && found[attribute] == nil {
			stored.Faults = append(stored.Faults,
				es.Fault{Field: attribute, Expected: "N, a whole number", Found: describe(found[attribute])})
		}
		*into = value
	}
	slices.SortFunc(stored.Faults, func(a, b es.Fault) int { return strings.Compare(a.Field, b.Field) })
	return stored
}

// ReplaceHead implements [es.Maintainer]. The payload, the state after event 1, is unchanged. The condition on
// the replaced version excludes concurrent commands.
func (g *Gateway) ReplaceHead(ctx context.Context, id es.AggregateID, found es.StoredHead, head es.Head) error {
	err := g.replaceHead(ctx, id, found, head)
	var changed *types.ConditionalCheckFailedException
	if !errors.As(err, &changed) {
		return explain(ctx, err, "replace the head of %s", id)
	}
	now, err := g.StoredHead(ctx, id)
	if err != nil || now.Is(head) {
		return err // nil: this write succeeded and its answer was lost
	}
	return fmt.Errorf("replace the head of %s: %w: somebody else has changed the head", id, es.ErrConflict)
}

// adopt gives a head of the documents' form today's, because the condition of a write needs the version in its
// attribute.
func (g *Gateway) adopt(ctx context.Context, id es.AggregateID, head item) error {
	stored := storedHeadOf(id, head)
	return g.ReplaceHead(ctx, id, stored, stored.Head)
}

func (g *Gateway) replaceHead(ctx context.Context, id es.AggregateID, found es.StoredHead, head es.Head) error {
	stored, err := g.readStoredHead(ctx, id)
	if err != nil {
		return err
	}
	if !storedHeadOf(id, stored).Equal(found) {
		return &types.ConditionalCheckFailedException{}
	}
	values := item{":new_aid": text(id.String()), ":new_seq_nr": number(headSeqNr), ":new_version": number(head.Version)}
	set, remove := []string{"#aid = :new_aid", "#seq_nr = :new_seq_nr", "#version = :new_version"}, ""
	if head.SnapshotVersion > 0 {
		values[":new_snapshot_version"] = number(head.SnapshotVersion)
		set = append(set, "#snapshot_version = :new_snapshot_version")
	} else {
		remove = " REMOVE #snapshot_version"
	}
	names, conditions := map[string]string{}, []string{}
	for _, attribute := range headAttributes {
		names["#"+attribute] = attribute
		if stored[attribute] == nil {
			conditions = append(conditions, "attribute_not_exists(#"+attribute+")")
			continue
		}
		values[":old_"+attribute] = stored[attribute]
		conditions = append(conditions, "#"+attribute+" = :old_"+attribute)
	}
	return retryContended(ctx, func() error { // a command may be writing the head
		_, err := g.client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
			TableName:                 aws.String(g.settings.SnapshotTable),
			Key:                       g.key(id, headSeqNr),
			UpdateExpression:          aws.String("SET " + strings.Join(set, ", ") + remove),
			ConditionExpression:       aws.String(strings.Join(conditions, " AND ")),
			ExpressionAttributeNames:  names,
			ExpressionAttributeValues: values,
		})
		return err
	})
}
