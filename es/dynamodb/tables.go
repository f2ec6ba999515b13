package dynamodb

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// The names of the indexes are fixed; those of the tables are settings.
const (
	journalIndex  = "journal-aid-index"
	snapshotIndex = "snapshot-aid-index"
)

// Table is the definition of a table. It is on demand: no capacity to plan, and no cost without load.
type Table struct {
	Name       string
	Index      string   // on aid and seq_nr; empty: none, and the key is pkey alone
	Projection []string // attributes in the index beside the keys; nil: all
	Stream     bool     // of new images
	TTL        string   // the attribute with the expiry time; empty: no expiry
}

// Tables defines the event store under the given table names. The journal's index has all attributes, because replay
// reads only the index while it is up to date. The snapshot table's does not have the head's version, which every
// command changes, so commands do not pay for it.
func Tables(journal, snapshot string) []Table {
	return []Table{
		{Name: journal, Index: journalIndex, Stream: true},
		{Name: snapshot, Index: snapshotIndex, Projection: []string{"checksum", "parts", "ttl"}, TTL: "ttl"},
	}
}

// definition returns the table as DynamoDB describes it.
func (t Table) definition() *types.TableDescription {
	attribute := func(name string, kind types.ScalarAttributeType) types.AttributeDefinition {
		return types.AttributeDefinition{AttributeName: aws.String(name), AttributeType: kind}
	}
	keys := func(hash, sort string) []types.KeySchemaElement {
		return []types.KeySchemaElement{
			{AttributeName: aws.String(hash), KeyType: types.KeyTypeHash}, {AttributeName: aws.String(sort), KeyType: types.KeyTypeRange},
		}
	}
	table := &types.TableDescription{
		TableName: aws.String(t.Name), BillingModeSummary: &types.BillingModeSummary{BillingMode: types.BillingModePayPerRequest},
		AttributeDefinitions: []types.AttributeDefinition{attribute("pkey", types.ScalarAttributeTypeS)}, KeySchema: keys("pkey", "skey"),
	}
	if t.Index == "" {
		table.KeySchema = table.KeySchema[:1]
		return table
	}
	table.AttributeDefinitions = append(table.AttributeDefinitions, attribute("skey", types.ScalarAttributeTypeS),
		attribute("aid", types.ScalarAttributeTypeS), attribute("seq_nr", types.ScalarAttributeTypeN))
	projection := &types.Projection{ProjectionType: types.ProjectionTypeAll}
	if t.Projection != nil {
		projection = &types.Projection{ProjectionType: types.ProjectionTypeInclude, NonKeyAttributes: t.Projection}
	}
	table.GlobalSecondaryIndexes = []types.GlobalSecondaryIndexDescription{
		{IndexName: aws.String(t.Index), KeySchema: keys("aid", "seq_nr"), Projection: projection},
	}
	if t.Stream {
		table.StreamSpecification = &types.StreamSpecification{StreamEnabled: aws.Bool(true), StreamViewType: types.StreamViewTypeNewImage}
	}
	return table
}

// SetUpTables creates missing tables, turns expiry on where it is off and only the billing differs, waits until all are
// active, and compares them with the definition. It returns what it created and what differs, in words.
func SetUpTables(ctx context.Context, client *dynamodb.Client, tables []Table) (created, differences []string, err error) {
	for _, table := range tables {
		made, wrong, err := table.setUp(ctx, client)
		created, differences = append(created, made...), append(differences, wrong...)
		if err != nil {
			return created, differences, fmt.Errorf("set up table %s: %w", table.Name, err)
		}
	}
	return created, differences, nil
}

func (t Table) setUp(ctx context.Context, client *dynamodb.Client) (created, differences []string, err error) {
	want := t.definition()
	input := &dynamodb.CreateTableInput{
		TableName: want.TableName, BillingMode: want.BillingModeSummary.BillingMode, AttributeDefinitions: want.AttributeDefinitions,
		KeySchema: want.KeySchema, StreamSpecification: want.StreamSpecification,
	}
	for _, index := range want.GlobalSecondaryIndexes {
		input.GlobalSecondaryIndexes = append(input.GlobalSecondaryIndexes,
			types.GlobalSecondaryIndex{IndexName: index.IndexName, KeySchema: index.KeySchema, Projection: index.Projection})
	}
	var missing *types.ResourceNotFoundException
	var raced *types.ResourceInUseException // another process is creating it
	if _, err := client.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: want.TableName}); errors.As(err, &missing) {
		if _, err := client.CreateTable(ctx, input); err == nil {
			created = append(created, "table "+t.Name)
		} else if !errors.As(err, &raced) {
			return nil, nil, err
		}
	}
	output, err := dynamodb.NewTableExistsWaiter(client, func(o *dynamodb.TableExistsWaiterOptions) {
		o.MinDelay, o.MaxDelay = 20*time.Millisecond, 2*time.Second // DynamoDB Local creates tables at once
	}).WaitForOutput(ctx, &dynamodb.DescribeTableInput{TableName: want.TableName}, 5*time.Minute)
	if err != nil {
		return created, nil, fmt.Errorf("wait until it is active (run the setup again to go on): %w", err)
	}
	wanted, found := properties(want), properties(output.Table)
	both := maps.Clone(wanted)
	maps.Copy(both, found)
	ours := true // its billing is its owner's affair
	for _, what := range slices.Sorted(maps.Keys(both)) {
		if wanted[what] != found[what] {
			ours = ours && what == "billing"
			differences = append(differences, t.difference(what, found[what], wanted[what]))
		}
	}
	expires, wrong, err := t.setUpExpiry(ctx, client, ours)
	return append(created, expires...), append(differences, wrong...), err
}

func (t Table) difference(what, got, want string) string {
	return fmt.Sprintf("table %s: %s is %s, defined as %s", t.Name, what, cmp.Or(got, "none"), cmp.Or(want, "none"))
}

// properties returns what the definition says about a table, in words.
func properties(table *types.TableDescription) map[string]string {
	found := map[string]string{
		"key":     keyText(table.KeySchema, table.AttributeDefinitions),
		"billing": string(types.BillingModeProvisioned), // DynamoDB describes none if a table was never on demand
	}
	if table.BillingModeSummary != nil {
		found["billing"] = string(table.BillingModeSummary.BillingMode)
	}
	if stream := table.StreamSpecification; stream != nil && aws.ToBool(stream.StreamEnabled) {
		found["stream"] = string(stream.StreamViewType)
	}
	for _, index := range table.GlobalSecondaryIndexes {
		name := "index " + aws.ToString(index.IndexName)
		found[name] = keyText(index.KeySchema, table.AttributeDefinitions)
		if projection := index.Projection; projection != nil {
			attributes := slices.Sorted(slices.Values(projection.NonKeyAttributes))
			found["projection of "+name] = strings.TrimSpace(string(projection.ProjectionType) + " " + strings.Join(attributes, " "))
		}
	}
	return found
}

func keyText(schema []types.KeySchemaElement, attributes []types.AttributeDefinition) string {
	var parts []string
	for _, element := range schema {
		for _, attribute := range attributes {
			if aws.ToString(attribute.AttributeName) == aws.ToString(element.AttributeName) {
				parts = append(parts, fmt.Sprintf("%s %s (%s)", *element.AttributeName, attribute.AttributeType, element.KeyType))
			}
		}
	}
	return strings.Join(parts, ", ")
}

// setUpExpiry turns expiry on if it is off, which CreateTable can't do. Expiry by another attribute is a difference. A
// table with any other difference may belong to another application: expiry would delete its items.
func (t Table) setUpExpiry(ctx context.Context, client *dynamodb.Client, asDefined bool) (created, differences []string, err error) {
	output, err := client.DescribeTimeToLive(ctx, &dynamodb.DescribeTimeToLiveInput{TableName: aws.String(t.Name)})
	if err != nil {
		return nil, nil, fmt.Errorf("read its time to live: %w", err)
	}
	got := ""
	if ttl := output.TimeToLiveDescription; ttl != nil {
		switch ttl.TimeToLiveStatus {
		case types.TimeToLiveStatusEnabled, types.TimeToLiveStatusEnabling:
			got = aws.ToString(ttl.AttributeName)
		case types.TimeToLiveStatusDisabling: // for up to an hour it can't be turned on again
			got = "being turned off"
		case types.TimeToLiveStatusDisabled:
		}
	}
	switch {
	case got == t.TTL:
		return nil, nil, nil
	case got != "" || !asDefined:
		return nil, []string{t.difference("time to live", got, t.TTL)}, nil
	}
	_, err = client.UpdateTimeToLive(ctx, &dynamodb.UpdateTimeToLiveInput{
		TableName:               aws.String(t.Name),
		TimeToLiveSpecification: &types.TimeToLiveSpecification{AttributeName: aws.String(t.TTL), Enabled: aws.Bool(true)},
	})
	if err != nil {
		return nil, nil, fmt.Errorf("turn on its time to live: %w", err)
	}
	return []string{fmt.Sprintf("time to live on %s of table %s", t.TTL, t.Name)}, nil, nil
}
