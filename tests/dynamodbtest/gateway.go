// Package dynamodbtest gives the tests of those who stand on the gateway a real one: DynamoDB Local with tables of its
// own.
package dynamodbtest

import (
	"log/slog"
	"testing"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"example.com/threads/interfaceadaptor/gateway/dynamodb"
	"example.com/threads/tests/testenv"
	"example.com/threads/tools/dynamodb-setup/schema"
)

// New returns a gateway over new tables.
func New(t *testing.T) *dynamodb.Gateway {
	t.Helper()
	client := sdk.NewFromConfig(testenv.DynamoDBConfig(t))
	name := testenv.UniqueName(t)
	settings := dynamodb.Settings{JournalTable: name + "-journal", SnapshotTable: name + "-snapshot", SnapshotKeep: 1, Clock: time.Now}
	if _, err := schema.Setup(t.Context(), client, schema.Tables(settings.JournalTable, settings.SnapshotTable)); err != nil {
		t.Fatal(err)
	}
	gateway, err := dynamodb.New(client, settings, slog.New(slog.NewTextHandler(t.Output(), nil)))
	if err != nil {
		t.Fatal(err)
	}
	return gateway
}
