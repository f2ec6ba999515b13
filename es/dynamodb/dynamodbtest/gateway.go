// Package dynamodbtest gives tests a real gateway, on new tables of DynamoDB Local: [New] is one gateway, [Several] are
// those of several processes, and [Tables] with [Open] let a test change items itself.
package dynamodbtest

import (
	"testing"

	sdk "github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"example.com/threads/es/dynamodb"
	"example.com/threads/es/estest/testenv"
)

// New returns a gateway over new tables.
func New(t *testing.T) *dynamodb.Gateway {
	t.Helper()
	return Several(t, 1)[0]
}

// Several returns gateways over the same new tables, each with its own client, like separate processes.
func Several(t *testing.T, count int) []*dynamodb.Gateway {
	t.Helper()
	tables, _ := Tables(t)
	gateways := make([]*dynamodb.Gateway, count)
	for i := range gateways {
		gateways[i] = Open(t, tables)
	}
	return gateways
}

// Tables creates tables, and a client to read or change them directly.
func Tables(t *testing.T) (dynamodb.Settings, *sdk.Client) {
	t.Helper()
	client := sdk.NewFromConfig(testenv.DynamoDBConfig(t))
	name := testenv.UniqueName(t)
	settings := dynamodb.Settings{JournalTable: name + "-journal", SnapshotTable: name + "-snapshot", SnapshotKeep: 1}
	if _, _, err := dynamodb.SetUpTables(t.Context(), client, dynamodb.Tables(settings.JournalTable, settings.SnapshotTable)); err != nil {
		t.Fatal(err)
	}
	return settings, client
}

// Open returns a gateway over tables.
func Open(t *testing.T, tables dynamodb.Settings) *dynamodb.Gateway {
	t.Helper()
	gateway, err := dynamodb.New(sdk.NewFromConfig(testenv.DynamoDBConfig(t)), tables)
	if err != nil {
		t.Fatal(err)
	}
	return gateway
}
