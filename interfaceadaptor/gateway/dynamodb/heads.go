package dynamodb

import (
	"context"
	"iter"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"example.com/threads/interfaceadaptor/eventstore"
)

const headSuffix = "-0" // of a head's skey

// Heads scans the snapshot table. It does not use the smaller index, because an index may lack a head, and repairs must
// find everything.
func (g *Gateway) Heads(ctx context.Context, aggregateType string) iter.Seq2[eventstore.AggregateHead, error] {
	return func(yield func(eventstore.AggregateHead, error) bool) {
		expression, names := shown("pkey", "skey", "aid", "version", "snapshot_version")
		names["#seq_nr"], names["#former"] = "seq_nr", formerNumber
		for page, err := range g.scan(ctx, &dynamodb.ScanInput{
			TableName:                 aws.String(g.settings.SnapshotTable),
			FilterExpression:          aws.String("(#seq_nr = :head OR attribute_not_exists(#seq_nr) AND attribute_exists(#former)) AND begins_with(#aid, :type)"),
			ProjectionExpression:      expression,
			ExpressionAttributeNames:  names,
			ExpressionAttributeValues: item{":head": number(headSeqNr), ":type": text(aggregateType + "-")},
		}) {
			if err != nil {
				yield(eventstore.AggregateHead{}, explain(ctx, err, "scan the heads of type %s", aggregateType))
				return
			}
			for _, found := range page {
				if !strings.HasSuffix(found.text("skey"), headSuffix) {
					continue // an earlier writer's snapshot
				}
				if !yield(g.aggregateHeadOf(ctx, aggregateType, found), nil) {
					return
				}
			}
		}
	}
}

func (g *Gateway) aggregateHeadOf(ctx context.Context, aggregateType string, found item) eventstore.AggregateHead {
	id := eventstore.AggregateID{
		Tenant: tenantOf(found.text("pkey")),
		Type:   aggregateType,
		ULID:   strings.TrimPrefix(found.text("aid"), aggregateType+"-"),
	}
	head, _ := g.headOf(ctx, id, found) // 0 if it can't be read
	return eventstore.AggregateHead{ID: id, Head: head}
}
