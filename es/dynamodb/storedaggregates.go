package dynamodb

import (
	"context"
	"iter"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"example.com/threads/es"
)

const headSuffix = "-0" // of a head's skey

// StoredAggregates implements [es.Maintainer]. It scans the journal, where an aggregate's items follow one
// another, and then the heads for those that have no first event.
func (g *Gateway) StoredAggregates(ctx context.Context) iter.Seq2[es.StoredAggregate, error] {
	return func(yield func(es.StoredAggregate, error) bool) {
		var last es.AggregateID
		for page, err := range g.scanKeys(ctx, g.settings.JournalTable, "") {
			if err != nil {
				yield(es.StoredAggregate{}, explain(ctx, err, "scan the journal"))
				return
			}
			for _, event := range page {
				if stored := g.aggregateAt(event); stored.ID != last {
					if !yield(stored, nil) {
						return
					}
					last = stored.ID
				}
			}
		}
		for page, err := range g.scanKeys(ctx, g.settings.SnapshotTable, formerHeads) {
			page = slices.DeleteFunc(page, func(found item) bool { return !strings.HasSuffix(found.text("skey"), headSuffix) })
			for heads := range slices.Chunk(page, maxBatchGet) {
				if err == nil {
					heads, err = g.withoutFirstEvent(ctx, heads)
				}
				for _, head := range heads {
					if err == nil && !yield(g.aggregateAt(head), nil) {
						return
					}
				}
			}
			if err != nil {
				yield(es.StoredAggregate{}, explain(ctx, err, "scan the heads"))
				return
			}
		}
	}
}

// aggregateAt returns the aggregate of an item, and a fault if programs do not read it there.
func (g *Gateway) aggregateAt(found item) es.StoredAggregate {
	pkey := found.text("pkey")
	id, _, err := placeOf(pkey, found.text("skey"))
	if err != nil {
		return es.StoredAggregate{ID: id, Faults: []es.Fault{
			{Field: "skey", Expected: "<type>-<ulid>-<number>", Found: found.text("skey")},
		}}
	}
	stored := es.StoredAggregate{ID: id}
	if want := g.partition(id.Tenant, id.Type, id.ID); pkey != want {
		stored.Faults = []es.Fault{{Field: "pkey", Expected: want, Found: pkey}}
	}
	return stored
}

// scanKeys yields the keys of a table's items page by page.
func (g *Gateway) scanKeys(ctx context.Context, table, filter string) iter.Seq2[[]item, error] {
	scan := &dynamodb.ScanInput{TableName: aws.String(table), ProjectionExpression: aws.String("pkey, skey")}
	if filter != "" {
		scan.FilterExpression = aws.String(filter)
		scan.ExpressionAttributeValues = item{":head": number(headSeqNr)}
	}
	return g.scan(ctx, scan)
}

// withoutFirstEvent returns those of at most maxBatchGet heads whose aggregate has no event 1 in the journal.
func (g *Gateway) withoutFirstEvent(ctx context.Context, heads []item) ([]item, error) {
	type place struct{ pkey, skey string }
	first := func(head item) place {
		aid, _ := cutLast(head.text("skey"))
		return place{head.text("pkey"), aid + "-1"}
	}
	var keys []map[string]types.AttributeValue
	for _, head := range heads {
		at := first(head)
		keys = append(keys, item{"pkey": text(at.pkey), "skey": text(at.skey)})
	}
	events, err := g.getEvents(ctx, keys, "pkey", "skey")
	if err != nil {
		return nil, err
	}
	there := map[place]bool{}
	for _, event := range events {
		there[place{event.text("pkey"), event.text("skey")}] = true
	}
	return slices.DeleteFunc(slices.Clone(heads), func(head item) bool { return there[first(head)] }), nil
}
