package dynamodb

import (
	"context"
	"iter"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"example.com/threads/es"
)

// Heads scans the snapshot table. It does not use the smaller index, because an index may lack a head, and repairs must
// find everything.
func (g *Gateway) Heads(ctx context.Context, aggregateType string) iter.Seq2[es.AggregateHead, error] {
	return func(yield func(es.AggregateHead, error) bool) {
		expression, names := shown("pkey", "skey", "aid", "seq_nr", formerNumber, "version", "snapshot_version")
		for page, err := range g.scan(ctx, &dynamodb.ScanInput{
			TableName:                 aws.String(g.settings.SnapshotTable),
			FilterExpression:          aws.String(formerHeads + " AND begins_with(#aid, :type)"),
			ProjectionExpression:      expression,
			ExpressionAttributeNames:  names,
			ExpressionAttributeValues: item{":head": number(headSeqNr), ":type": text(aggregateType + "-")},
		}) {
			if err != nil {
				yield(es.AggregateHead{}, explain(ctx, err, "scan the heads of type %s", aggregateType))
				return
			}
			for _, found := range page {
				id, seqNr, err := g.Place(found.text("pkey"), found.text("skey"))
				if err != nil || seqNr != headSeqNr || id.Type != aggregateType {
					continue // misplaced, or a kept snapshot
				}
				head, _ := g.headOf(ctx, id, found) // 0 if it can't be read
				if !yield(es.AggregateHead{ID: id, Head: head}, nil) {
					return
				}
			}
		}
	}
}
