package main

import (
	"context"
	"errors"
	"os"

	sdk "github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/oklog/ulid/v2"

	"example.com/threads/es/dynamodb"
	"example.com/threads/infrastructure/eventstore/dynamo"
)

// The addresses of the services that devservices has started.
const (
	dynamoDBVar = "TEST_DYNAMODB_ENDPOINT"
	mySQLVar    = "TEST_MYSQL_DSN"
)

// useServices makes the SDK, in this process and in the started programs, use DynamoDB Local.
func useServices() error {
	return errors.Join(os.Setenv("AWS_REGION", "us-east-1"), os.Setenv("AWS_ACCESS_KEY_ID", "local"), os.Setenv("AWS_SECRET_ACCESS_KEY", "local"),
		os.Setenv("AWS_ENDPOINT_URL_DYNAMODB", os.Getenv(dynamoDBVar)), os.Setenv("AWS_ENDPOINT_URL_DYNAMODB_STREAMS", os.Getenv(dynamoDBVar)))
}

// testTables are the tables of one run.
type testTables struct {
	client            *sdk.Client
	journal, snapshot string
	index             string // of the journal
}

// newTables creates tables. DynamoDB Local gets slower with every record of any stream, so rows that do not need one go
// without.
func newTables(ctx context.Context, streamed bool) (*testTables, error) {
	client, err := newSDKClient(ctx)
	if err != nil {
		return nil, err
	}
	name := ulid.Make().String()
	t := &testTables{client: client, journal: name + "-journal", snapshot: name + "-snapshot"}
	wanted := dynamodb.Tables(t.journal, t.snapshot)
	t.index = wanted[0].Index
	for i := range wanted {
		wanted[i].Stream = wanted[i].Stream && streamed
	}
	_, _, err = dynamodb.SetUpTables(ctx, client, wanted)
	return t, err
}

func newSDKClient(ctx context.Context, options ...func(*sdk.Options)) (*sdk.Client, error) {
	config, err := dynamo.Load(ctx)
	if err != nil {
		return nil, err
	}
	return dynamodb.NewClient(config, options...), nil
}
