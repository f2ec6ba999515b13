package dynamodb

import (
	"context"
	"fmt"
	"hash/maphash"
	"iter"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"example.com/threads/es"
	"example.com/threads/es/internal/seq"
)

// expect adds a fault unless the attribute has the expected value.
func expect(faults []es.Fault, in item, attribute string, want types.AttributeValue) []es.Fault {
	if found := in[attribute]; describe(found) != describe(want) {
		faults = append(faults, es.Fault{Field: attribute, Expected: describe(want), Found: describe(found)})
	}
	return faults
}

// describe formats an attribute for people: its type and value.
func describe(value types.AttributeValue) string {
	switch value := value.(type) {
	case nil:
		return "nothing"
	case *types.AttributeValueMemberS:
		return fmt.Sprintf("S %q", value.Value)
	case *types.AttributeValueMemberN:
		return "N " + value.Value
	case *types.AttributeValueMemberB:
		return fmt.Sprintf("B, %d bytes", len(value.Value))
	default:
		return "a type that does not belong there"
	}
}

// StoredAggregates scans the journal, and then the heads for those without an event. It remembers a hash of each
// aggregate, which takes some 30 MB for a million.
func (g *Gateway) StoredAggregates(ctx context.Context) iter.Seq2[es.StoredAggregate, error] {
	events := g.scan(ctx, &dynamodb.ScanInput{
		TableName: aws.String(g.settings.JournalTable), ProjectionExpression: aws.String("pkey, skey"),
	})
	seed, seen := maphash.MakeSeed(), map[uint64]bool{}
	return seq.Map(seq.Concat(events, g.scanHeads(ctx)), func(found item) (es.StoredAggregate, error) {
		pkey := found.text("pkey")
		id, _, faults := g.place(pkey, found.text("skey"))
		key := func(pkey string) uint64 { return maphash.Comparable(seed, [2]string{pkey, id.String()}) }
		if seen[key(pkey)] {
			return es.StoredAggregate{}, seq.ErrSkip
		}
		seen[key(pkey)] = true
		for _, each := range g.all {
			if first := each.partition(id); faults == nil && first != pkey && seen[key(first)] {
				faults = []es.Fault{{Field: "pkey", Expected: first, Found: pkey}} // it must be in one place
			}
		}
		if faults == nil && len(g.all) > 1 {
			g.places.Add(id, g.under(pkey, id)) // a check must find it even if its head is lost
		}
		return es.StoredAggregate{ID: id, Faults: faults}, nil
	})
}

// StoredEntries implements [es.Maintainer].
func (g *Gateway) StoredEntries(ctx context.Context, id es.AggregateID) iter.Seq2[es.Entry, error] {
	return seq.Map(g.belongings(ctx, g.settings.JournalTable, id, ""), func(event item) (es.Entry, error) {
		event = readFormer(event)
		stored := es.Entry{EventID: event.text("event_id"), Payload: event.bytes("payload")}
		if _, stored.SeqNr, stored.Faults = g.place(event.text("pkey"), event.text("skey")); stored.Faults == nil {
			stored.Faults = expect(nil, event, "seq_nr", number(stored.SeqNr))
		}
		stored.Faults = expect(stored.Faults, event, "aid", text(id.String()))
		occurredAt, err := event.integer("occurred_at")
		if err != nil || occurredAt <= 0 {
			stored.Faults = append(stored.Faults,
				es.Fault{Field: "occurred_at", Expected: "N, milliseconds since 1970", Found: describe(event["occurred_at"])})
		} else {
			stored.OccurredAt = time.UnixMilli(occurredAt).UTC()
		}
		return stored, nil
	})
}

// StoredSnapshots implements [es.Maintainer]. The state after event 1, in the head item, is none of them.
func (g *Gateway) StoredSnapshots(ctx context.Context, id es.AggregateID) iter.Seq2[es.Snapshot, error] {
	items := g.belongings(ctx, g.settings.SnapshotTable, id, "pkey, skey, aid, seq_nr, #ttl, "+formerNumber)
	return seq.Map(items, func(main item) (es.Snapshot, error) {
		place, version, _ := g.place(main.text("pkey"), main.text("skey"))
		if place != id || version == headSeqNr || g.expired(main) {
			return es.Snapshot{}, seq.ErrSkip // a part, the head, or expired and about to be deleted by DynamoDB
		}
		stored, err := g.under(main.text("pkey"), id).readSnapshot(ctx, id, version)
		stored.Unlisted = isFormer(main)
		main = readFormer(main)
		faults := expect(expect(nil, main, "aid", text(id.String())), main, "seq_nr", number(version))
		if len(faults) > 0 && stored.Broken == "" {
			stored.Payload = nil
			stored.Broken = "its " + faults[0].Field + " is " + faults[0].Found + ", so that the index does not show it"
		}
		return stored, Explain(ctx, err, "read the snapshots of %s", id)
	})
}

// DropSnapshot implements [es.Maintainer]. Parts that the main item does not list stay, and cost storage.
func (g *Gateway) DropSnapshot(ctx context.Context, id es.AggregateID, version uint64) error {
	g, err := g.at(ctx, id)
	if err != nil {
		return err
	}
	main, err := g.getItem(ctx, g.settings.SnapshotTable, g.key(id, version), "")
	if err == nil && len(main) > 0 {
		err = g.deleteSnapshot(ctx, main)
	}
	return Explain(ctx, err, "drop a snapshot of %s", id)
}

const maxBatchWrite = 25 // changes in a BatchWriteItem

// RemoveEntries implements [es.Maintainer]. The stream shows each as a REMOVE.
func (g *Gateway) RemoveEntries(ctx context.Context, id es.AggregateID, first, last uint64) error {
	g, stored, err := g.readHead(ctx, id)
	if err == nil {
		err = storedHeadOf(id, stored).CheckRemoval(last)
	}
	for ; err == nil && first <= last; first += maxBatchWrite {
		var changes []types.WriteRequest
		for seqNr := first; seqNr <= min(last, first+maxBatchWrite-1); seqNr++ {
			changes = append(changes, types.WriteRequest{DeleteRequest: &types.DeleteRequest{Key: g.key(id, seqNr)}})
		}
		rest := map[string][]types.WriteRequest{g.settings.JournalTable: changes}
		err = retryContended(ctx, func() error {
			output, err := g.client.BatchWriteItem(ctx, &dynamodb.BatchWriteItemInput{RequestItems: rest})
			if err != nil {
				return err
			}
			if rest = output.UnprocessedItems; len(rest) > 0 {
				return errUnprocessed
			}
			return nil
		})
	}
	return Explain(ctx, err, "remove entries of %s", id)
}
