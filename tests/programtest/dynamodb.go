package programtest

import (
	"testing"

	"example.com/threads/es/dynamodb"
	"example.com/threads/es/estest/testenv"
)

// OnDynamoDB returns the environment of a program in this process with tables of its own.
func OnDynamoDB(t *testing.T) map[string]string {
	t.Helper()
	name := testenv.UniqueName(t)
	journal, snapshot := name+"_journal", name+"_snapshot"
	client := dynamodb.NewClient(testenv.DynamoDBConfig(t))
	if _, _, err := dynamodb.SetUpTables(t.Context(), client, dynamodb.Tables(journal, snapshot)); err != nil {
		t.Fatal(err)
	}
	UseDynamoDB(t, testenv.DynamoDB(t))
	return map[string]string{"JOURNAL_TABLE": journal, "SNAPSHOT_TABLE": snapshot}
}

// UseDynamoDB sets what the SDK reads, for programs in this process.
func UseDynamoDB(t *testing.T, endpoint string) {
	t.Helper()
	t.Setenv("AWS_REGION", testenv.Region)
	t.Setenv("AWS_ACCESS_KEY_ID", testenv.AccessKeyID(t))
	t.Setenv("AWS_SECRET_ACCESS_KEY", testenv.SecretAccessKey)
	t.Setenv("AWS_ENDPOINT_URL_DYNAMODB", endpoint)
}
