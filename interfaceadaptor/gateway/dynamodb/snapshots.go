package dynamodb

import (
	"context"
	"errors"
	"iter"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"example.com/threads/interfaceadaptor/eventstore"
)

// Snapshots yields the one that the head points to, then older ones as the index shows them, then the state after event
// 1 out of the head item. Each is read when it is asked for: who is content with the first pays for no other.
func (g *Gateway) Snapshots(ctx context.Context, id eventstore.AggregateID, head eventstore.Head) iter.Seq2[eventstore.Snapshot, error] {
	return func(yield func(eventstore.Snapshot, error) bool) {
		for version, err := range g.candidates(ctx, id, head) {
			if err != nil {
				yield(eventstore.Snapshot{}, explain(ctx, err, "find the snapshots of", id))
				return
			}
			snapshot, err := g.readSnapshot(ctx, id, version)
			if errors.Is(err, errBroken) {
				g.logger.WarnContext(ctx, "a snapshot is passed over; an earlier one, or the events, will do",
					"tenant", id.Tenant, "aggregate", id.String(), "seq_nr", version, "error", err)
				continue
			}
			if !yield(snapshot, explain(ctx, err, "read a snapshot of", id)) || err != nil {
				return
			}
		}
	}
}

// candidates yields the seq_nrs of the items that may hold a snapshot, latest first. A head that was read a while ago
// may point to one that others have let go of, for a later one: so the index is asked for those up to the head's version.
func (g *Gateway) candidates(ctx context.Context, id eventstore.AggregateID, head eventstore.Head) iter.Seq2[uint64, error] {
	return func(yield func(uint64, error) bool) {
		if head.SnapshotVersion > 0 {
			if !yield(head.SnapshotVersion, nil) {
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
