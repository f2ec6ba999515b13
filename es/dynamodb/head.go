package dynamodb

import (
	"context"
	"fmt"
	"iter"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"example.com/threads/es"
	"example.com/threads/es/internal/seq"
)

// headAttributes are what is read of a head: not its payload.
const headAttributes = "pkey, skey, aid, seq_nr, version, snapshot_version, " + formerNumber

// readHead reads the head item without its payload, consistently. It also returns the gateway of the aggregate.
func (g *Gateway) readHead(ctx context.Context, id es.AggregateID) (*Gateway, item, error) {
	g, err := g.at(ctx, id)
	if err != nil {
		return nil, nil, err
	}
	found, err := g.getItem(ctx, g.settings.SnapshotTable, g.key(id, headSeqNr), headAttributes)
	return g, found, Explain(ctx, err, "read the head of %s", id)
}

// Head implements [es.Reader].
func (g *Gateway) Head(ctx context.Context, id es.AggregateID) (es.Head, error) {
	stored, err := g.StoredHead(ctx, id)
	if err != nil {
		return es.Head{}, err
	}
	return stored.Usable(id)
}

// scanHeads yields the heads of all aggregates, without the smaller index, which may lack one.
func (g *Gateway) scanHeads(ctx context.Context) iter.Seq2[item, error] {
	items := g.scan(ctx, &dynamodb.ScanInput{
		TableName: aws.String(g.settings.SnapshotTable), ProjectionExpression: aws.String(headAttributes),
		FilterExpression: aws.String(formerHeads), ExpressionAttributeValues: item{":head": number(headSeqNr)},
	})
	return seq.Map(items, func(found item) (item, error) {
		if !strings.HasSuffix(found.text("skey"), headSuffix) {
			return nil, seq.ErrSkip // it is a kept snapshot
		}
		return found, nil
	})
}

// Heads implements [es.Journal] by a scan of the snapshot table. Misplaced heads are left out, too.
func (g *Gateway) Heads(ctx context.Context, aggregateType string) iter.Seq2[es.StoredAggregate, error] {
	return seq.Map(g.scanHeads(ctx), func(found item) (es.StoredAggregate, error) {
		id, _, err := g.Place(found.text("pkey"), found.text("skey"))
		if err != nil || id.Type != aggregateType || id.Check() != nil {
			return es.StoredAggregate{}, seq.ErrSkip
		}
		head, _ := storedHeadOf(id, found).Usable(id) // 0 if it can't be read
		return es.StoredAggregate{ID: id, Head: head}, nil
	})
}

// AskToYield marks the head. The mark only affects an Append with Heed.
func (g *Gateway) AskToYield(ctx context.Context, id es.AggregateID) error {
	g, err := g.at(ctx, id)
	if err != nil {
		return err
	}
	_, err = g.do(ctx, g.update(g.key(id, headSeqNr), "SET asked = :asked", present, item{":asked": &types.AttributeValueMemberBOOL{Value: true}}))
	if _, gone := unmet(err); gone {
		return nil
	}
	return Explain(ctx, err, "ask the writers of %s to yield", id)
}

// StoredHead implements [es.Maintainer].
func (g *Gateway) StoredHead(ctx context.Context, id es.AggregateID) (es.StoredHead, error) {
	_, found, err := g.readHead(ctx, id)
	return storedHeadOf(id, found), err
}

func storedHeadOf(id es.AggregateID, found item) es.StoredHead {
	if len(found) == 0 {
		return es.StoredHead{}
	}
	found = readFormer(found)
	stored := es.StoredHead{Exists: true}
	stored.Faults = expect(expect(nil, found, "aid", text(id.String())), found, "seq_nr", number(headSeqNr))
	read := func(attribute string, into *uint64, optional bool) {
		value, err := found.number(attribute)
		if err != nil || found[attribute] == nil && !optional {
			stored.Faults = append(stored.Faults, es.Fault{Field: attribute, Expected: "N, a whole number", Found: describe(found[attribute])})
		}
		*into = value
	}
	read("snapshot_version", &stored.SnapshotVersion, true)
	read("version", &stored.Version, false)
	return stored
}

// ReplaceHead leaves the payload unchanged. The condition on the replaced version excludes concurrent commands.
func (g *Gateway) ReplaceHead(ctx context.Context, id es.AggregateID, found es.StoredHead, head es.Head) error {
	g, stored, err := g.readHead(ctx, id)
	if err != nil {
		return err
	}
	now := storedHeadOf(id, stored)
	if now.Equal(found) {
		_, err = g.do(ctx, g.replace(id, stored, head))
		if _, changed := unmet(err); !changed {
			return Explain(ctx, err, "replace the head of %s", id)
		}
		if now, err = g.StoredHead(ctx, id); err != nil {
			return err
		}
	}
	if now.Is(head) {
		return nil // this write succeeded and its answer was lost, or another one did the same
	}
	return fmt.Errorf("replace the head of %s: %w: somebody else has changed the head", id, es.ErrConflict)
}

// replace changes a head on the condition that it is as it was read.
func (g *Gateway) replace(id es.AggregateID, stored item, head es.Head) types.TransactWriteItem {
	values := item{
		":aid": text(id.String()), ":seq_nr": number(headSeqNr), ":version": number(head.Version),
		":snapshot_version": number(head.SnapshotVersion),
	}
	var unchanged []string
	for _, attribute := range []string{"aid", "seq_nr", "version", "snapshot_version"} {
		if stored[attribute] == nil {
			unchanged = append(unchanged, "attribute_not_exists("+attribute+")")
			continue
		}
		values[":old_"+attribute] = stored[attribute]
		unchanged = append(unchanged, attribute+" = :old_"+attribute)
	}
	return g.update(g.key(id, headSeqNr),
		"SET aid = :aid, seq_nr = :seq_nr, version = :version, snapshot_version = :snapshot_version",
		strings.Join(unchanged, " AND "), values)
}

// adopt gives a head of the documents' form today's, which the conditions of writes need.
func (g *Gateway) adopt(ctx context.Context, id es.AggregateID, head item) error {
	stored := storedHeadOf(id, head)
	return g.ReplaceHead(ctx, id, stored, stored.Head)
}
