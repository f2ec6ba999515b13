package dynamodb_test

import (
	"testing"

	"example.com/threads/interfaceadaptor/keystore/dynamodb"
	"example.com/threads/interfaceadaptor/keystore/keystoretest"
	"example.com/threads/tests/dynamodbtest"
	"example.com/threads/tests/testenv"
	"example.com/threads/tools/dynamodb-setup/schema"
)

func TestContract(t *testing.T) {
	_, client := dynamodbtest.Tables(t)
	table := testenv.UniqueName(t)
	if _, err := schema.Setup(t.Context(), client, []schema.Table{schema.Keys(table)}); err != nil {
		t.Fatal(err)
	}
	keystoretest.Run(t, dynamodb.New(client, table))
}
