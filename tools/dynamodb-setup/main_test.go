package main

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"example.com/threads/es/estest/testenv"
	"example.com/threads/infrastructure/program"
)

func setUp(t *testing.T, env map[string]string) (string, error) {
	t.Helper()
	t.Setenv("AWS_REGION", testenv.Region)
	t.Setenv("AWS_ACCESS_KEY_ID", testenv.AccessKeyID(t))
	t.Setenv("AWS_SECRET_ACCESS_KEY", testenv.SecretAccessKey)
	t.Setenv("AWS_ENDPOINT_URL_DYNAMODB", testenv.DynamoDB(t))
	var out bytes.Buffer
	err := run(t.Context(), nil, func(name string) string { return env[name] }, &out)
	return out.String(), err
}

func TestTablesAreCreatedOnce(t *testing.T) {
	env := map[string]string{"JOURNAL_TABLE": testenv.UniqueName(t), "SNAPSHOT_TABLE": testenv.UniqueName(t)}
	out, err := setUp(t, env)
	if err != nil || strings.Count(out, "created table") != 2 || !strings.Contains(out, "created time to live on ttl") {
		t.Fatalf("first run: %v and:\n%s", err, out)
	}
	out, err = setUp(t, env)
	if err != nil || strings.Contains(out, "created t") || !strings.Contains(out, "is ready") {
		t.Errorf("second run: %v and:\n%s", err, out)
	}

	client := dynamodb.NewFromConfig(testenv.DynamoDBConfig(t))
	journal, err := client.DescribeTable(t.Context(), &dynamodb.DescribeTableInput{TableName: aws.String(env["JOURNAL_TABLE"])})
	if err != nil {
		t.Fatal(err)
	}
	if stream := journal.Table.StreamSpecification; stream == nil || stream.StreamViewType != types.StreamViewTypeNewImage {
		t.Errorf("the journal's stream is %+v", stream)
	}
}

func TestDifferencesAreReportedAndLeft(t *testing.T) {
	env := map[string]string{"JOURNAL_TABLE": testenv.UniqueName(t), "SNAPSHOT_TABLE": testenv.UniqueName(t)}
	client := dynamodb.NewFromConfig(testenv.DynamoDBConfig(t))
	_, err := client.CreateTable(t.Context(), &dynamodb.CreateTableInput{
		TableName:             aws.String(env["JOURNAL_TABLE"]),
		AttributeDefinitions:  []types.AttributeDefinition{{AttributeName: aws.String("pkey"), AttributeType: types.ScalarAttributeTypeS}},
		KeySchema:             []types.KeySchemaElement{{AttributeName: aws.String("pkey"), KeyType: types.KeyTypeHash}},
		ProvisionedThroughput: &types.ProvisionedThroughput{ReadCapacityUnits: aws.Int64(1), WriteCapacityUnits: aws.Int64(1)},
	})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // until an operator acts
		out, err := setUp(t, env)
		if !errors.Is(err, errDifferent) {
			t.Fatalf("%v and:\n%s", err, out)
		}
		for _, part := range []string{
			": key is pkey S (HASH), defined as pkey S (HASH), skey S (RANGE)",
			": billing is PROVISIONED, defined as PAY_PER_REQUEST",
			": stream is none, defined as NEW_IMAGE",
			": index journal-aid-index is none, defined as aid S (HASH), seq_nr N (RANGE)",
		} {
			if !strings.Contains(out, "table "+env["JOURNAL_TABLE"]+part) {
				t.Errorf("%q is missing in:\n%s", part, out)
			}
		}
		if strings.Contains(out, "table "+env["SNAPSHOT_TABLE"]+":") {
			t.Errorf("a table without differences is reported:\n%s", out)
		}
	}
}

func TestATableOfSomebodyElseDoesNotExpire(t *testing.T) {
	journal, snapshot := testenv.UniqueName(t), testenv.UniqueName(t)
	if out, err := setUp(t, map[string]string{"JOURNAL_TABLE": journal, "SNAPSHOT_TABLE": snapshot}); err != nil {
		t.Fatalf("%v and:\n%s", err, out)
	}
	out, err := setUp(t, map[string]string{"JOURNAL_TABLE": testenv.UniqueName(t), "SNAPSHOT_TABLE": journal})
	if !errors.Is(err, errDifferent) || !strings.Contains(out, "table "+journal+": time to live is none, defined as ttl") {
		t.Errorf("%v and:\n%s", err, out)
	}
	ttl, err := dynamodb.NewFromConfig(testenv.DynamoDBConfig(t)).
		DescribeTimeToLive(t.Context(), &dynamodb.DescribeTimeToLiveInput{TableName: aws.String(journal)})
	if err != nil || ttl.TimeToLiveDescription.TimeToLiveStatus != types.TimeToLiveStatusDisabled {
		t.Errorf("the journal taken for a snapshot table expires: %v %+v", err, ttl)
	}
}

func TestUsage(t *testing.T) {
	getenv := func(string) string { return "" }
	var out bytes.Buffer
	if err := run(t.Context(), []string{"--help"}, getenv, &out); err != nil || !strings.Contains(out.String(), "JOURNAL_TABLE") {
		t.Errorf("--help: %v and:\n%s", err, out.String())
	}
	for _, args := range [][]string{{"now"}, {"--force"}} {
		if err := run(t.Context(), args, getenv, &out); !errors.Is(err, program.ErrUsage) {
			t.Errorf("%v: %v", args, err)
		}
	}
	same := func(string) string { return "one" }
	if err := run(t.Context(), nil, same, &out); err == nil || !strings.Contains(err.Error(), "SNAPSHOT_TABLE") {
		t.Errorf("one table for both: %v", err)
	}
}
