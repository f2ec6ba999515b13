package dynamodb_test

import (
	"testing"

	"example.com/threads/es/dynamodb/dynamodbtest"
	"example.com/threads/es/dynamodb/schema"
	"example.com/threads/es/testenv"
	"example.com/threads/extras/erasure/keystore/dynamodb"
	"example.com/threads/extras/erasure/keystore/keystoretest"
)

func TestContract(t *testing.T) {
	_, client := dynamodbtest.Tables(t)
	table := testenv.UniqueName(t)
	if _, err := schema.Setup(t.Context(), client, []schema.Table{schema.Keys(table)}); err != nil {
		t.Fatal(err)
	}
	keystoretest.Run(t, dynamodb.New(client, table))
}
