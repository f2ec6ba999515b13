package dynamodbstreams_test

import (
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	tables "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	sdk "github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"

	esdynamodb "example.com/threads/es/dynamodb"
	"example.com/threads/es/dynamodbstreams"
	"example.com/threads/es/estest/testenv"
)

// wire stands between the SDK and DynamoDB Local and answers some calls as AWS does.
type wire struct {
	mu      sync.Mutex
	pending map[string][]string // faults for the next calls, by operation
}

func (w *wire) say(operation string, faults ...string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.pending[operation] = append(w.pending[operation], faults...)
}

func (w *wire) quiet() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	for operation, left := range w.pending {
		if len(left) > 0 {
			return fmt.Errorf("%s has %d faults left to answer", operation, len(left))
		}
	}
	return nil
}

func (w *wire) next(operation string) (fault string, found bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	left := w.pending[operation]
	if len(left) == 0 {
		return "", false
	}
	w.pending[operation] = left[1:]
	return left[0], true
}

func newWire(t *testing.T) (*wire, aws.Config) {
	t.Helper()
	cfg := testenv.DynamoDBConfig(t)
	target, err := url.Parse(*cfg.BaseEndpoint)
	if err != nil {
		t.Fatal(err)
	}
	w := &wire{pending: map[string][]string{}}
	forward := &httputil.ReverseProxy{
		Rewrite:  func(r *httputil.ProxyRequest) { r.SetURL(target); r.Out.Host = r.In.Host },
		ErrorLog: log.New(io.Discard, "", 0), // a poll that the stop interrupts
	}
	server := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		_, operation, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
		fault, found := w.next(operation)
		if !found {
			forward.ServeHTTP(out, r)
			return
		}
		_, _ = io.Copy(io.Discard, r.Body)
		out.Header().Set("Content-Type", "application/x-amz-json-1.0")
		out.WriteHeader(http.StatusBadRequest)
		_, _ = fmt.Fprintf(out, `{"__type":"com.amazonaws.dynamodb.v20120810#%s","message":"said by the test"}`, fault)
	}))
	t.Cleanup(server.Close)
	cfg.BaseEndpoint = aws.String(server.URL)
	return w, cfg
}

// TestFaultsOnTheWire gives the real client errors that DynamoDB Local never returns, in the middle of a real stream.
func TestFaultsOnTheWire(t *testing.T) {
	w, cfg := newWire(t)
	client := dynamodb.NewFromConfig(cfg)
	name := testenv.UniqueName(t)
	if _, _, err := esdynamodb.SetUpTables(t.Context(), client, esdynamodb.Tables(name, name+"_snapshot")); err != nil {
		t.Fatal(err)
	}
	put := func(from, to uint64) {
		for _, record := range recordsOf(from, to, time.Now()) {
			if _, err := client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String(name), Item: itemOf(record)}); err != nil {
				t.Fatal(err)
			}
		}
	}
	store := newMemory()
	source := dynamodbstreams.New(name, dynamodbstreams.Ports{
		Place: fakePlace, Tables: client, Streams: dynamodbstreams.Share(sdk.NewFromConfig(cfg)), Projector: store, Checkpoints: store, Log: discard,
	}, dynamodbstreams.Settings{PageLimit: 7, DiscoverEvery: 50 * time.Millisecond})
	stop := run(t.Context(), source, store)
	defer stop()
	until := func(n int) {
		t.Helper()
		testenv.Eventually(t, 30*time.Second, func() error {
			return errors.Join(store.hasRows(n), w.quiet(), source.Health(), store.settled(), notBehind(t.Context(), source))
		})
	}

	put(1, 20)
	until(20)
	handed := store.count()
	w.say("GetRecords", "ExpiredIteratorException", "LimitExceededException", "InternalServerError")
	w.say("DescribeStream", "LimitExceededException")
	put(21, 40)
	until(40)
	if got := store.count(); handed != 20 || got != 40 || source.Totals().Expired != 1 || source.Totals().Lost != 0 {
		t.Errorf("%d and then %d records were handed over, %d iterators expired, %d positions lost", handed, got,
			source.Totals().Expired, source.Totals().Lost)
	}
	repairs := store.madeRepairs()
	w.say("GetRecords", "TrimmedDataAccessException")
	put(41, 60)
	until(60)
	if source.Totals().Lost != 1 || store.madeRepairs() != repairs+1 {
		t.Errorf("%d positions lost, %d repairs after %d before", source.Totals().Lost, store.madeRepairs(), repairs)
	}
}

// itemOf returns a record's image as an item to put.
func itemOf(record types.Record) map[string]tables.AttributeValue {
	image := record.Dynamodb.NewImage
	text := func(name string) string { return image[name].(*types.AttributeValueMemberS).Value }
	return map[string]tables.AttributeValue{
		"pkey":    &tables.AttributeValueMemberS{Value: text("pkey")},
		"skey":    &tables.AttributeValueMemberS{Value: fmt.Sprint(text("aid"), "-", seqNrOf(record))},
		"aid":     &tables.AttributeValueMemberS{Value: text("aid")},
		"seq_nr":  &tables.AttributeValueMemberN{Value: fmt.Sprint(seqNrOf(record))},
		"payload": &tables.AttributeValueMemberS{Value: text("payload")},
	}
}
