package awscalls_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/prometheus/client_golang/prometheus"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	esdynamodb "example.com/threads/es/dynamodb"
	"example.com/threads/extras/observe/awscalls"
	"example.com/threads/infrastructure/eventstore/dynamo"
)

// answering is a DynamoDB that answers every call with the same JSON and records the requests.
func answering(t *testing.T, status int, answer string) (asked func() map[string]any) {
	t.Helper()
	var mutex sync.Mutex
	var request map[string]any
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mutex.Lock()
		defer mutex.Unlock()
		request = nil
		_ = json.NewDecoder(r.Body).Decode(&request)
		w.WriteHeader(status)
		_, _ = w.Write([]byte(answer))
	}))
	t.Cleanup(server.Close)
	for name, value := range map[string]string{
		"AWS_REGION": "us-east-1", "AWS_ACCESS_KEY_ID": "local", "AWS_SECRET_ACCESS_KEY": "local", "AWS_ENDPOINT_URL_DYNAMODB": server.URL,
	} {
		t.Setenv(name, value)
	}
	return func() map[string]any {
		mutex.Lock()
		defer mutex.Unlock()
		return request
	}
}

type consumed struct {
	table, index, operation string
	units                   float64
}

func countingClient(t *testing.T) (client *dynamodb.Client, counted func() []consumed) {
	t.Helper()
	cfg, err := dynamo.Load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var all []consumed
	client = esdynamodb.NewClient(cfg, awscalls.CountCapacity(func(table, index, operation string, units float64) {
		all = append(all, consumed{table, index, operation, units})
	}))
	return client, func() []consumed { return all }
}

// A write consumes capacity of tables and of their indexes.
func TestCapacityOfATransaction(t *testing.T) {
	asked := answering(t, http.StatusOK, `{"ConsumedCapacity":[
		{"TableName":"journal","CapacityUnits":6,"Table":{"CapacityUnits":2},"GlobalSecondaryIndexes":{"by-aid":{"CapacityUnits":4}}},
		{"TableName":"snapshot","CapacityUnits":2,"Table":{"CapacityUnits":2}}]}`)
	client, counted := countingClient(t)
	input := &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{{Delete: &types.Delete{
		TableName: aws.String("journal"), Key: map[string]types.AttributeValue{"pkey": &types.AttributeValueMemberS{Value: "a"}},
	}}}}
	if _, err := client.TransactWriteItems(t.Context(), input); err != nil {
		t.Fatal(err)
	}
	if asked()["ReturnConsumedCapacity"] != "INDEXES" || input.ReturnConsumedCapacity != "" {
		t.Errorf("requested %v, and the caller's input has %q", asked(), input.ReturnConsumedCapacity)
	}
	want := []consumed{
		{"journal", "", "TransactWriteItems", 2},
		{"journal", "by-aid", "TransactWriteItems", 4},
		{"snapshot", "", "TransactWriteItems", 2},
	}
	if got := counted(); !slices.Equal(got, want) {
		t.Errorf("counted %v, want %v", got, want)
	}
}

// A query on an index consumes only the index's capacity.
func TestCapacityOfAQuery(t *testing.T) {
	answering(t, http.StatusOK, `{"Items":[],"ConsumedCapacity":{"TableName":"journal","CapacityUnits":1.5,"Table":{"CapacityUnits":0},
		"GlobalSecondaryIndexes":{"by-aid":{"CapacityUnits":1.5}}}}`)
	client, counted := countingClient(t)
	if _, err := client.Query(t.Context(), &dynamodb.QueryInput{TableName: aws.String("journal")}); err != nil {
		t.Fatal(err)
	}
	want := []consumed{{"journal", "", "Query", 0}, {"journal", "by-aid", "Query", 1.5}}
	if got := counted(); !slices.Equal(got, want) {
		t.Errorf("counted %v, want %v", got, want)
	}
}

// An answer without capacity counts nothing: calls without that parameter, stores that do not report it, and errors.
func TestWithoutCapacityNothingIsCounted(t *testing.T) {
	for _, status := range []int{http.StatusOK, http.StatusBadRequest} {
		answering(t, status, "{}")
		client, counted := countingClient(t)
		_, _ = client.DescribeTable(t.Context(), &dynamodb.DescribeTableInput{TableName: aws.String("journal")})
		_, _ = client.GetItem(t.Context(), &dynamodb.GetItemInput{
			TableName: aws.String("journal"), Key: map[string]types.AttributeValue{"pkey": &types.AttributeValueMemberS{Value: "a"}},
		})
		if got := counted(); len(got) > 0 {
			t.Errorf("%d: counted %v", status, got)
		}
	}
}

func TestCallsHaveSpans(t *testing.T) {
	answering(t, http.StatusOK, "{}")
	cfg, err := dynamo.Load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	client := esdynamodb.NewClient(cfg, awscalls.Observe(prometheus.NewRegistry()))
	spans := tracetest.NewSpanRecorder()
	ctx, parent := sdk.NewTracerProvider(sdk.WithSpanProcessor(spans)).Tracer("test").Start(t.Context(), "parent")
	for _, ctx := range []context.Context{ctx, t.Context()} { // traced, and not traced
		if _, err := client.ListTables(ctx, &dynamodb.ListTablesInput{}); err != nil {
			t.Fatal(err)
		}
	}
	ended := spans.Ended()
	if len(ended) != 1 || ended[0].Name() != "DynamoDB ListTables" || ended[0].Parent().SpanID() != parent.SpanContext().SpanID() {
		t.Errorf("spans %v", ended)
	}
}
