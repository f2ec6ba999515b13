package dynamodb

import (
	"context"
	"errors"
	"iter"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"example.com/threads/es"
)

// Snapshots yields the snapshot that the head points to, then older ones from the index, then the state after event 1
// from the head item. Each is read only when it is requested.
func (g *Gateway) Snapshots(ctx context.Context, id es.AggregateID, head es.Head) iter.Seq2[es.Snapshot, error] {
	return func(yield func(es.Snapshot, error) bool) {
		for version, err := range g.candidates(ctx, id, head) {
			if err != nil {
				yield(es.Snapshot{}, explain(ctx, err, "find the snapshots of %s", id))
				return
			}
			snapshot, err := g.readSnapshot(ctx, id, version)
			if errors.Is(err, errBroken) {
				g.logger.WarnContext(ctx, "skipped an unreadable snapshot; an earlier one or the events are used instead",
					"tenant", id.Tenant, "aggregate", id.String(), "seq_nr", version, "error", err)
				continue
			}
			if err == nil && snapshot.Version > head.Version {
				continue // the state in an earlier writer's head
			}
			if !yield(snapshot, explain(ctx, err, "read a snapshot of %s", id)) || err != nil {
				return
			}
		}
	}
}

// candidates yields the seq_nrs of the items that may hold a snapshot, latest first. The head may be old and point to a
// snapshot that was trimmed since, so the index is read for all snapshots up to the head's version.
func (g *Gateway) candidates(ctx context.Context, id es.AggregateID, head es.Head) iter.Seq2[uint64, error] {
	return func(yield func(uint64, error) bool) {
		if head.SnapshotVersion > 0 {
			if head.SnapshotVersion <= head.Version && !yield(head.SnapshotVersion, nil) {
				return
			}
			for main, err := range g.snapshotIndex(ctx, id, head.Version) {
				var version uint64
				if err == nil {
					version, err = main.number("seq_nr")
				}
				if version != head.SnapshotVersion && !yield(version, err) {
					return
				}
			}
		}
		if head.Version > 0 {
			yield(headSeqNr, nil)
		}
	}
}

// snapshotIndex yields the main items of the snapshots up to a version as the index shows them, latest first: keys,
// checksum, parts and ttl. The head (seq_nr 0) is not included.
func (g *Gateway) snapshotIndex(ctx context.Context, id es.AggregateID, upTo uint64) iter.Seq2[item, error] {
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
