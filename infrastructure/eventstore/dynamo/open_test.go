package dynamo_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"

	"example.com/threads/infrastructure/eventstore/dynamo"
)

func TestEachServiceHasItsOwnEndpoint(t *testing.T) {
	var tables, streams atomic.Int64
	t.Setenv("AWS_REGION", "us-east-1")
	t.Setenv("AWS_ACCESS_KEY_ID", "local")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "local")
	for name, calls := range map[string]*atomic.Int64{"AWS_ENDPOINT_URL_DYNAMODB": &tables, "AWS_ENDPOINT_URL_DYNAMODB_STREAMS": &streams} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			calls.Add(1)
			_, _ = w.Write([]byte("{}"))
		}))
		defer server.Close()
		t.Setenv(name, server.URL)
	}
	cfg, err := dynamo.Load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := dynamodb.NewFromConfig(cfg).ListTables(t.Context(), nil); err != nil {
		t.Error(err)
	}
	if _, err := dynamodbstreams.NewFromConfig(cfg).ListStreams(t.Context(), nil); err != nil {
		t.Error(err)
	}
	if tables.Load() != 1 || streams.Load() != 1 {
		t.Errorf("%d calls to the tables and %d to the streams, want 1 each", tables.Load(), streams.Load())
	}
}

func TestAMissingRegionIsNamed(t *testing.T) {
	t.Setenv("AWS_REGION", "")
	t.Setenv("AWS_DEFAULT_REGION", "")
	t.Setenv("AWS_CONFIG_FILE", "/dev/null")
	if _, err := dynamo.Load(t.Context()); err == nil || !strings.Contains(err.Error(), "AWS_REGION") {
		t.Errorf("got %v, want an error that names AWS_REGION", err)
	}
}
