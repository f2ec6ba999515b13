package awsclient_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"

	"example.com/threads/infrastructure/awsclient"
)

func setEnvironment(t *testing.T, tables, streams string) {
	t.Helper()
	t.Setenv("AWS_REGION", "us-east-1")
	t.Setenv("AWS_ACCESS_KEY_ID", "local")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "local")
	t.Setenv("AWS_ENDPOINT_URL_DYNAMODB", tables)
	t.Setenv("AWS_ENDPOINT_URL_DYNAMODB_STREAMS", streams)
}

// server answers with an empty object, after the given number of failures.
func server(t *testing.T, failures int64, fail http.HandlerFunc) (url string, calls *atomic.Int64) {
	t.Helper()
	calls = new(atomic.Int64)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if calls.Add(1) <= failures {
			fail(w, r)
			return
		}
		_, _ = w.Write([]byte("{}"))
	}))
	t.Cleanup(s.Close)
	return s.URL, calls
}

func TestEachServiceHasItsOwnEndpoint(t *testing.T) {
	tables, tableCalls := server(t, 0, nil)
	streams, streamCalls := server(t, 0, nil)
	setEnvironment(t, tables, streams)
	cfg, err := awsclient.Load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := awsclient.DynamoDB(cfg).ListTables(t.Context(), &dynamodb.ListTablesInput{}); err != nil {
		t.Error(err)
	}
	if _, err := awsclient.Streams(cfg).ListStreams(t.Context(), &dynamodbstreams.ListStreamsInput{}); err != nil {
		t.Error(err)
	}
	if tableCalls.Load() != 1 || streamCalls.Load() != 1 {
		t.Errorf("%d calls to the tables and %d to the streams, want 1 each", tableCalls.Load(), streamCalls.Load())
	}
}

func TestAMissingRegionIsNamed(t *testing.T) {
	setEnvironment(t, "http://127.0.0.1:1", "http://127.0.0.1:1")
	t.Setenv("AWS_REGION", "")
	t.Setenv("AWS_DEFAULT_REGION", "")
	t.Setenv("AWS_CONFIG_FILE", "/dev/null")
	if _, err := awsclient.Load(t.Context()); err == nil || !strings.Contains(err.Error(), "AWS_REGION") {
		t.Errorf("got %v, want an error that names AWS_REGION", err)
	}
}

func TestPassingTroubleIsRetriedSoon(t *testing.T) {
	for name, fail := range map[string]http.HandlerFunc{
		"server error": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) },
		"throttled": func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusBadRequest)
			_, _ = w.Write([]byte(`{"__type":"com.amazonaws.dynamodb.v20120810#ThrottlingException"}`))
		},
		"connection lost": func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
		"answer cut short": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "100")
			_, _ = w.Write([]byte(`{"TableNames":`))
		},
	} {
		t.Run(name, func(t *testing.T) {
			url, calls := server(t, 3, fail)
			setEnvironment(t, url, url)
			cfg, err := awsclient.Load(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
			defer cancel()
			if _, err := awsclient.DynamoDB(cfg).ListTables(ctx, &dynamodb.ListTablesInput{}); err != nil {
				t.Error(err)
			}
			if calls.Load() != 4 {
				t.Errorf("%d attempts, want 4", calls.Load())
			}
		})
	}
}
