package dynamodb_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	sdk "github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"example.com/threads/es/dynamodb"
)

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
			client := dynamodb.NewClient(dynamodb.Tuned(aws.Config{
				Region: "us-east-1", BaseEndpoint: &url, Credentials: credentials.NewStaticCredentialsProvider("local", "local", ""),
			}))
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			defer cancel()
			if _, err := client.ListTables(ctx, &sdk.ListTablesInput{}); err != nil {
				t.Error(err)
			}
			if calls.Load() != 4 {
				t.Errorf("%d attempts, want 4", calls.Load())
			}
		})
	}
}
