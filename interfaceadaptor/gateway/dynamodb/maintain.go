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

	"example.com/threads/interfaceadaptor/eventstore"
)

var _ eventstore.Maintainer = (*Gateway)(nil)

// placeOf parses the key of an aggregate's item: an event, a head, or the main item of a snapshot.
func placeOf(pkey, skey string) (id eventstore.AggregateID, seqNr uint64, err error) {
	aid, number, _ := cutLast(skey)
	seqNr, err = strconv.ParseUint(number, 10, 64)
	if err == nil {
		id, err = eventstore.ParseAggregateID(tenantOf(pkey), aid)
	}
	if err != nil {
		return eventstore.AggregateID{Tenant: tenantOf(pkey), ULID: skey}, 0, fmt.Errorf("skey %q is not <type>-<ulid>-<number>", skey)
	}
	return id, seqNr, nil
}

func cutLast(skey string) (before, after string, found bool) {
	dash := strings.LastIndexByte(skey, '-')
	if dash < 0 {
		return skey, "", false
	}
	return skey[:dash], skey[dash+1:], true
}

// belongings yields the items of an aggregate in a table, ordered by skey as text. It reads the table consistently,
// without an index. names limits the attributes; empty: all of them.
func (g *Gateway) belongings(ctx context.Context, table string, id eventstore.AggregateID, names ...string) iter.Seq2[item, error] {
	return func(yield func(item, error) bool) {
		page := new(pageSize)
		query := &dynamodb.QueryInput{
			TableName:                aws.String(table),
			KeyConditionExpression:   aws.String("#pkey = :pkey AND begins_with(#skey, :prefix)"),
			ExpressionAttributeNames: map[string]string{"#pkey": "pkey", "#skey": "skey"},
			ExpressionAttributeValues: item{
				":pkey": text(g.partition(id.Tenant, id.Type, id.ULID)), ":prefix": text(id.String() + "-"),
			},
			ConsistentRead: aws.Bool(true),
		}
		project(query, names)
		for {
			query.Limit = aws.Int32(int32(page.items()))
			output, err := g.client.Query(ctx, query)
			if err != nil {
				yield(nil, err)
				return
			}
			for _, found := range output.Items {
				page.saw(found)
				if !yield(found, nil) {
					return
				}
			}
			if query.ExclusiveStartKey = output.LastEvaluatedKey; len(query.ExclusiveStartKey) == 0 {
				return
			}
		}
	}
}

// project limits a query to some attributes beside the key.
func project(query *dynamodb.QueryInput, names []string) {
	if len(names) == 0 {
		return
	}
	shown := []string{"#pkey", "#skey"}
	for _, name := range names {
		query.ExpressionAttributeNames["#"+name] = name
		shown = append(shown, "#"+name)
	}
	query.ProjectionExpression = aws.String(strings.Join(shown, ", "))
}

// expect adds a fault unless the attribute has the expected value.
func expect(faults []eventstore.Fault, in item, attribute string, want types.AttributeValue) []eventstore.Fault {
	if found := in[attribute]; describe(found) != describe(want) {
		faults = append(faults, eventstore.Fault{Field: attribute, Expected: describe(want), Found: describe(found)})
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
