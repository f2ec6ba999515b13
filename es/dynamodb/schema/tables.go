package schema

import (
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// The names of the indexes are fixed; those of the tables are settings.
const (
	journalIndex  = "journal-aid-index"
	snapshotIndex = "snapshot-aid-index"
)

// Table is the definition of a table.
type Table struct {
	Name       string
	Index      string   // on aid and seq_nr; empty: none, and the key is pkey alone
	Projection []string // attributes in the index beside the keys; nil: all
	Stream     bool     // of new images
	TTL        string   // the attribute with the expiry time; empty: no expiry
}

// billingMode is on demand: no capacity to plan, and no cost without load.
const billingMode = types.BillingModePayPerRequest

// Tables defines the event store under the given table names.
//
// The journal's index has all attributes, because replay reads only the index while it is up to date. The snapshot
// table's index has only the attributes for finding and trimming snapshots. The head's version, which every command
// changes, is not in it, so commands do not pay for this index.
func Tables(journal, snapshot string) []Table {
	return []Table{
		{Name: journal, Index: journalIndex, Stream: true},
		{Name: snapshot, Index: snapshotIndex, Projection: []string{"checksum", "parts", "ttl"}, TTL: "ttl"},
	}
}

func (t Table) createInput() *dynamodb.CreateTableInput {
	input := &dynamodb.CreateTableInput{
		TableName:            aws.String(t.Name),
		BillingMode:          billingMode,
		AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("pkey"), AttributeType: types.ScalarAttributeTypeS}},
		KeySchema:            keys("pkey", "skey"),
	}
	if t.Index == "" {
		input.KeySchema = input.KeySchema[:1]
		return input
	}
	input.AttributeDefinitions = append(input.AttributeDefinitions,
		types.AttributeDefinition{AttributeName: aws.String("skey"), AttributeType: types.ScalarAttributeTypeS},
		types.AttributeDefinition{AttributeName: aws.String("aid"), AttributeType: types.ScalarAttributeTypeS},
		types.AttributeDefinition{AttributeName: aws.String("seq_nr"), AttributeType: types.ScalarAttributeTypeN})
	input.GlobalSecondaryIndexes = []types.GlobalSecondaryIndex{
		{IndexName: aws.String(t.Index), KeySchema: keys("aid", "seq_nr"), Projection: t.projection()},
	}
	if t.Stream {
		input.StreamSpecification = &types.StreamSpecification{
			StreamEnabled: aws.Bool(true), StreamViewType: types.StreamViewTypeNewImage,
		}
	}
	return input
}

func (t Table) projection() *types.Projection {
	if t.Projection == nil {
		return &types.Projection{ProjectionType: types.ProjectionTypeAll}
	}
	return &types.Projection{ProjectionType: types.ProjectionTypeInclude, NonKeyAttributes: t.Projection}
}

func keys(hash, sort string) []types.KeySchemaElement {
	return []types.KeySchemaElement{
		{AttributeName: aws.String(hash), KeyType: types.KeyTypeHash},
		{AttributeName: aws.String(sort), KeyType: types.KeyTypeRange},
	}
}
