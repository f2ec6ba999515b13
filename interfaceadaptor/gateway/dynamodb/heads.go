package dynamodb

import (
	"context"
	"iter"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"example.com/threads/interfaceadaptor/eventstore"
)

const (
	scanLimit = 500                   // items read per page; a page also ends at 1 MB
	scanPause = 10 * time.Millisecond // between pages, to leave capacity for commands

	headSuffix = "-0" // of a head's skey
)

// Heads scans the snapshot table. It does not use the smaller index, because an index may lack a head, and repairs must
// find everything.
func (g *Gateway) Heads(ctx context.Context, aggregateType string) iter.Seq2[eventstore.AggregateHead, error] {
	return func(yield func(eventstore.AggregateHead, error) bool) {
		pages := dynamodb.NewScanPaginator(g.client, &dynamodb.ScanInput{
			TableName:            aws.String(g.settings.SnapshotTable),
			FilterExpression:     aws.String("(#seq_nr = :head OR attribute_not_exists(#seq_nr) AND attribute_exists(#former)) AND begins_with(#aid, :type)"),
			ProjectionExpression: aws.String("#pkey, #skey, #aid, #version, #snapshot_version"),
			ExpressionAttributeNames: map[string]string{
				"#pkey": "pkey", "#skey": "skey", "#aid": "aid", "#seq_nr": "seq_nr",
				"#version": "version", "#snapshot_version": "snapshot_version", "#former": formerNumber,
			},
			ExpressionAttributeValues: item{":head": number(headSeqNr), ":type": text(aggregateType + "-")},
			ConsistentRead:            aws.Bool(true),
			Limit:                     aws.Int32(scanLimit),
		})
		for pages.HasMorePages() {
			page, err := pages.NextPage(ctx)
			if err != nil {
				yield(eventstore.AggregateHead{}, explainf(ctx, err, "scan the heads of type %s", aggregateType))
				return
			}
			for _, found := range page.Items {
				if !strings.HasSuffix(item(found).text("skey"), headSuffix) {
					continue // an earlier writer's snapshot
				}
				head, err := g.aggregateHeadOf(ctx, aggregateType, found)
				if !yield(head, err) || err != nil {
					return
				}
			}
			if pages.HasMorePages() && !wait(ctx, scanPause) {
				yield(eventstore.AggregateHead{}, explainf(ctx, ctx.Err(), "scan the heads of type %s", aggregateType))
				return
			}
		}
	}
}

func (g *Gateway) aggregateHeadOf(ctx context.Context, aggregateType string, found item) (eventstore.AggregateHead, error) {
	id := eventstore.AggregateID{
		Tenant: tenantOf(found.text("pkey")),
		Type:   aggregateType,
		ULID:   strings.TrimPrefix(found.text("aid"), aggregateType+"-"),
	}
	head, err := g.headOf(ctx, id, found)
	return eventstore.AggregateHead{ID: id, Head: head}, err
}
