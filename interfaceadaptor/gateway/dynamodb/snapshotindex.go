package dynamodb

import (
	"context"
	"iter"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"example.com/threads/interfaceadaptor/eventstore"
)

// snapshotIndex yields what the index shows of the snapshots up to a version, latest first: the keys, checksum, parts and
// ttl of their main items. The head, at seq_nr 0, is none of them.
func (g *Gateway) snapshotIndex(ctx context.Context, id eventstore.AggregateID, upTo uint64) iter.Seq2[item, error] {
	return func(yield func(item, error) bool) {
		if upTo == 0 {
			return
		}
		pages := dynamodb.NewQueryPaginator(g.client, &dynamodb.QueryInput{
			TableName:                 aws.String(g.settings.SnapshotTable),
			IndexName:                 aws.String(snapshotIndex),
			KeyConditionExpression:    aws.String(indexKey),
			FilterExpression:          aws.String(indexFilter),
			ExpressionAttributeNames:  indexNames(),
			ExpressionAttributeValues: g.indexValues(id, 1, upTo),
			ScanIndexForward:          aws.Bool(false),
			Limit:                     aws.Int32(maxPage),
		})
		for pages.HasMorePages() {
			page, err := pages.NextPage(ctx)
			if err != nil {
				yield(nil, err)
				return
			}
			for _, main := range page.Items {
				if !yield(main, nil) {
					return
				}
			}
		}
	}
}
