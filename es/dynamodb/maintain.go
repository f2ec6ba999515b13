package dynamodb

import (
	"context"
	"fmt"
	"iter"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"example.com/threads/es"
)

// placeOf parses the key of an aggregate's item: an event, a head, or the main item of a snapshot.
func placeOf(pkey, skey string) (id es.AggregateID, seqNr uint64, err error) {
	aid, number := cutLast(skey)
	seqNr, err = strconv.ParseUint(number, 10, 64)
	if err == nil {
		id, err = es.ParseAggregateID(tenantOf(pkey), aid)
	}
	if err != nil {
		return es.AggregateID{Tenant: tenantOf(pkey), ID: skey}, 0, fmt.Errorf("skey %q is not <type>-<ulid>-<number>", skey)
	}
	return id, seqNr, nil
}

func cutLast(skey string) (before, after string) {
	dash := strings.LastIndexByte(skey, '-')
	return skey[:max(dash, 0)], skey[dash+1:]
}

// Place returns the aggregate and the number of the item under a key. It fails if programs do not look for the item
// there: then the item is as good as missing, everywhere.
func (g *Gateway) Place(pkey, skey string) (id es.AggregateID, seqNr uint64, err error) {
	if id, seqNr, err = placeOf(pkey, skey); err != nil {
		return id, seqNr, err
	}
	want := g.key(id, seqNr)
	if want.text("pkey") != pkey || want.text("skey") != skey {
		return id, seqNr, fmt.Errorf("the item at pkey %q and skey %q is misplaced: programs look for it at %q and %q; "+
			"`journal check` lists such items; is SHARD_COUNT that of the program that wrote it?", pkey, skey, want.text("pkey"), want.text("skey"))
	}
	return id, seqNr, nil
}

// belongings yields the items of an aggregate in a table, ordered by skey as text. It reads the table consistently,
// without an index: all attributes of the items, or some.
func (g *Gateway) belongings(ctx context.Context, table string, id es.AggregateID, attributes ...string) iter.Seq2[item, error] {
	expression, names := shown(attributes...)
	return g.query(ctx, new(pageSize), &dynamodb.QueryInput{
		TableName:                aws.String(table),
		KeyConditionExpression:   aws.String("pkey = :pkey AND begins_with(skey, :prefix)"),
		ProjectionExpression:     expression,
		ExpressionAttributeNames: names,
		ExpressionAttributeValues: item{
			":pkey": text(g.partition(id.Tenant, id.Type, id.ID)), ":prefix": text(id.String() + "-"),
		},
		ConsistentRead: aws.Bool(true),
	})
}

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
