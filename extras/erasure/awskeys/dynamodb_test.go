package awskeys_test

import (
	"testing"

	"example.com/threads/es/dynamodb"
	"example.com/threads/es/dynamodb/dynamodbtest"
	"example.com/threads/es/estest/testenv"
	"example.com/threads/extras/erasure/awskeys"
	"example.com/threads/extras/erasure/keystoretest"
)

func TestContractOnDynamoDB(t *testing.T) {
	_, client := dynamodbtest.Tables(t)
	table := testenv.UniqueName(t)
	if _, _, err := dynamodb.SetUpTables(t.Context(), client, []dynamodb.Table{{Name: table}}); err != nil {
		t.Fatal(err)
	}
	keystoretest.Run(t, awskeys.NewDynamoDBStore(client, table))
}
