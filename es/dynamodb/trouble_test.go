package dynamodb_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"example.com/threads/es"
	"example.com/threads/es/dynamodb"
)

// trouble are transient failures: the SDK retries them, and the gateway reports them as unavailable if they persist.
var trouble = map[string]Fault{
	"connection reset":   Reset,
	"server error":       Refuse(http.StatusInternalServerError, "InternalServerError"),
	"not available":      Refuse(http.StatusServiceUnavailable, "ServiceUnavailable"),
	"throttled":          Refuse(http.StatusBadRequest, "ThrottlingException"),
	"too little":         Refuse(http.StatusBadRequest, "ProvisionedThroughputExceededException"),
	"over the account's": Refuse(http.StatusBadRequest, "RequestLimitExceeded"),
}

// calls are the port's methods with the DynamoDB operations that they use.
func calls(gateway *dynamodb.Gateway) map[string]func(ctx context.Context, id es.AggregateID) error {
	return map[string]func(ctx context.Context, id es.AggregateID) error{
		"TransactWriteItems": func(ctx context.Context, id es.AggregateID) error {
			head, err := gateway.Head(ctx, id)
			if err != nil {
				return err
			}
			return gateway.Append(ctx, es.Append{ID: id, ExpectedVersion: head.Version, Entries: entries(head.Version, 1)})
		},
		"GetItem": func(ctx context.Context, id es.AggregateID) error {
			_, err := gateway.Head(ctx, id)
			return err
		},
		"Query": func(ctx context.Context, id es.AggregateID) (err error) {
			for _, err = range gateway.Entries(ctx, id, 0, 5) {
			}
			return err
		},
		"Scan": func(ctx context.Context, id es.AggregateID) (err error) {
			for _, err = range gateway.Heads(ctx, id.Type) {
			}
			return err
		},
		"PutItem": func(ctx context.Context, id es.AggregateID) error {
			return gateway.SaveSnapshot(ctx, id, es.Snapshot{Version: 3, Payload: []byte("{}")})
		},
		"UpdateItem": func(ctx context.Context, id es.AggregateID) error {
			return gateway.SaveSnapshot(ctx, id, es.Snapshot{Version: 4, Payload: []byte("{}")})
		},
		"DeleteItem": func(ctx context.Context, id es.AggregateID) error {
			return gateway.SaveSnapshot(ctx, id, es.Snapshot{Version: 5, Payload: []byte("{}")})
		},
	}
}

func TestTroubleThatPasses(t *testing.T) {
	s := newStore(t)
	gateway := s.open(t, s.settings())
	for kind, fault := range trouble {
		t.Run(kind, func(t *testing.T) {
			id := begin(t, gateway, 5)
			for _, operation := range []string{"TransactWriteItems", "GetItem", "Query", "Scan", "PutItem", "UpdateItem", "DeleteItem"} {
				s.transport.Clear()
				s.transport.On(operation, 2, fault)
				if err := calls(gateway)[operation](t.Context(), id); err != nil {
					t.Errorf("%s: %v", operation, err)
				}
				if got := len(s.transport.Calls(operation)); got < 3 {
					t.Errorf("%s was tried %d times", operation, got)
				}
			}
		})
	}
}

func TestTroubleThatStays(t *testing.T) {
	s := newStore(t)
	gateway := s.open(t, s.settings())
	for kind, fault := range trouble {
		t.Run(kind, func(t *testing.T) {
			id := begin(t, gateway, 5)
			for operation, call := range calls(gateway) {
				if operation == "DeleteItem" {
					continue // no older snapshot to delete
				}
				s.transport.Clear()
				s.transport.On(operation, Forever, fault)
				wantUnavailable(t, call(t.Context(), id))
			}
			s.transport.Clear()
			wantVersion(t, gateway, id, 5)
		})
	}
}

func TestAStoreThatDoesNotAnswer(t *testing.T) {
	s := newStore(t)
	gateway := s.open(t, s.settings())
	id := begin(t, gateway, 5)
	for _, operation := range []string{"TransactWriteItems", "GetItem", "Query", "Scan", "PutItem"} {
		s.transport.Clear()
		s.transport.On(operation, Forever, Stall)
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		began := time.Now()
		wantUnavailable(t, calls(gateway)[operation](ctx, id))
		cancel()
		if took := time.Since(began); took > 5*time.Second {
			t.Errorf("%s: waited for %s", operation, took)
		}
	}
}

func TestAnAnswerCutShort(t *testing.T) {
	s := newStore(t)
	gateway := s.open(t, s.settings())
	id := begin(t, gateway, 5)
	s.transport.On("Query", Forever, CutAnswer)
	last, err := readAll(t, gateway, id, 5)
	wantUnavailable(t, err)
	if last != 0 {
		t.Errorf("read up to %d from answers that broke off", last)
	}
}
