package schema

import (
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// The indexes have fixed names; the tables' names are settings.
const (
	JournalIndex  = "journal-aid-index"
	SnapshotIndex = "snapshot-aid-index"
)

// Table is a table as it has to be.
type Table struct {
	Name       string
	Index      string            // on aid and seq_nr; empty: none, and the key is pkey alone
	Projection []string          // what the index holds beside the keys; nil: everything
	Stream     bool              // of new images
	TTL        string            // the attribute that items expire by; empty: none do
	billing    types.BillingMode // on demand: nobody has to guess a capacity, and nothing is paid for a quiet system
}

// Tables defines the event store under the given table names.
//
// The journal's index holds everything, because replay reads nothing else while the index is up to date. The snapshot's
// index holds the little that finding and letting go of a snapshot takes: a command changes the head's version only,
// which is not in it, so that a command never pays for this index.
func Tables(journal, snapshot string) []Table {
	return []Table{
		{Name: journal, Index: JournalIndex, Stream: true, billing: types.BillingModePayPerRequest},
		{
			Name: snapshot, Index: SnapshotIndex, Projection: []string{"checksum", "parts", "ttl"}, TTL: "ttl",
			billing: types.BillingModePayPerRequest,
		},
	}
}

// Keys defines the table of personal keys, which is apart from the event store. Give it no backups that outlive what is
// to be forgotten.
func Keys(name string) Table { return Table{Name: name, billing: types.BillingModePayPerRequest} }

func (t Table) createInput() *dynamodb.CreateTableInput {
	if t.Index == "" {
		return &dynamodb.CreateTableInput{
			TableName:   aws.String(t.Name),
			BillingMode: t.billing,
			AttributeDefinitions: []types.AttributeDefinition{
				{AttributeName: aws.String("pkey"), AttributeType: types.ScalarAttributeTypeS},
			},
			KeySchema: []types.KeySchemaElement{{AttributeName: aws.String("pkey"), KeyType: types.KeyTypeHash}},
		}
	}
	input := &dynamodb.CreateTableInput{
		TableName:   aws.String(t.Name),
		BillingMode: t.billing,
		AttributeDefinitions: []types.AttributeDefinition{
			{AttributeName: aws.String("pkey"), AttributeType: types.ScalarAttributeTypeS},
			{AttributeName: aws.String("skey"), AttributeType: types.ScalarAttributeTypeS},
			{AttributeName: aws.String("aid"), AttributeType: types.ScalarAttributeTypeS},
			{AttributeName: aws.String("seq_nr"), AttributeType: types.ScalarAttributeTypeN},
		},
		KeySchema: keys("pkey", "skey"),
		GlobalSecondaryIndexes: []types.GlobalSecondaryIndex{
			{IndexName: aws.String(t.Index), KeySchema: keys("aid", "seq_nr"), Projection: t.projection()},
		},
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
