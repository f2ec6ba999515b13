package dynamodb_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"

	"example.com/threads/es"
	"example.com/threads/es/dynamodb"
)

const write = "TransactWriteItems"

func TestContentionIsRetriedWithTheSameToken(t *testing.T) {
	s := newStore(t)
	gateway := s.open(t, s.settings())
	for _, codes := range [][]string{
		{"TransactionConflict"},
		{"None", "ThrottlingError"},
		{"None", "None", "ProvisionedThroughputExceeded"},
	} {
		t.Run(strings.Join(codes, " "), func(t *testing.T) {
			id := begin(t, gateway, 1)
			s.transport.Clear()
			s.transport.On(write, 3, CancelTransaction(codes...))
			if err := gateway.Append(t.Context(), es.Append{ID: id, ExpectedVersion: 1, Entries: entries(1, 2)}); err != nil {
				t.Fatal(err)
			}
			calls := s.transport.Calls(write)
			if len(calls) != 4 {
				t.Errorf("%d attempts, want 4", len(calls))
			}
			for _, call := range calls {
				if token := Token(call); token == nil || *token != aws.ToString(Token(calls[0])) {
					t.Error("the token was not kept")
				}
			}
			wantVersion(t, gateway, id, 3)
		})
	}
}

func TestContentionWithoutEndIsGivenUp(t *testing.T) {
	s := newStore(t)
	gateway := s.open(t, s.settings())
	id := begin(t, gateway, 1)
	s.transport.On(write, Forever, CancelTransaction("TransactionConflict"))
	wantUnavailable(t, gateway.Append(t.Context(), es.Append{ID: id, ExpectedVersion: 1, Entries: entries(1, 1)}))
	wantVersion(t, gateway, id, 1)
}

func TestAFailedConditionIsNotRetried(t *testing.T) {
	s := newStore(t)
	gateway := s.open(t, s.settings())
	id := begin(t, gateway, 2)
	s.transport.Clear()
	err := gateway.Append(t.Context(), es.Append{ID: id, ExpectedVersion: 1, Entries: entries(1, 1)})
	if !errors.Is(err, es.ErrConflict) {
		t.Errorf("got %v", err)
	}
	s.transport.On(write, 1, CancelTransaction("ConditionalCheckFailed", "TransactionConflict"))
	err = gateway.Append(t.Context(), es.Append{ID: id, ExpectedVersion: 2, Entries: entries(2, 1)})
	if !errors.Is(err, es.ErrConflict) {
		t.Errorf("got %v", err)
	}
	if calls := s.transport.Calls(write); len(calls) != 2 {
		t.Errorf("%d attempts of two writes", len(calls))
	}
}

func TestALostWriteIsRecognisedWithoutItsToken(t *testing.T) {
	s := newStore(t)
	gateway := s.open(t, s.settings())
	for name, meanwhile := range map[string]func(id es.AggregateID){
		"no later write": func(es.AggregateID) {},
		"later writes by others": func(id es.AggregateID) {
			if err := gateway.Append(t.Context(), es.Append{ID: id, ExpectedVersion: 2, Entries: entries(2, 3)}); err != nil {
				t.Error(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			s.transport.Clear()
			lost := es.Append{ID: newID(), Entries: entries(0, 2), Receipts: []es.Receipt{receipt()}}
			s.transport.On(write, 1, LoseAnswer(func() {
				meanwhile(lost.ID)
				s.transport.On(write, 1, ForgetToken)
			}))
			if err := gateway.Append(t.Context(), lost); err != nil {
				t.Fatal(err)
			}
			if last, err := readAll(t, gateway, lost.ID, 2); last != 2 || err != nil {
				t.Errorf("read up to %d, %v", last, err)
			}
		})
	}
}

func TestALostWriteOfAnotherIsNoSuccess(t *testing.T) {
	s := newStore(t)
	gateway := s.open(t, s.settings())
	id := begin(t, gateway, 1)
	// lost before the store executed it, and another write is executed
	s.transport.On(write, 1, func(call Call) (*http.Response, error) {
		s.transport.Clear()
		if err := gateway.Append(t.Context(), es.Append{ID: id, ExpectedVersion: 1, Entries: entries(1, 1)}); err != nil {
			t.Error(err)
		}
		return Reset(call)
	})
	err := gateway.Append(t.Context(), es.Append{ID: id, ExpectedVersion: 1, Entries: entries(1, 1)})
	if !errors.Is(err, es.ErrConflict) {
		t.Errorf("got %v, want ErrConflict", err)
	}
	wantVersion(t, gateway, id, 2)
}

func TestAWriteThatDoesNotFitSaysSo(t *testing.T) {
	s := newStore(t)
	gateway := s.open(t, s.settings())
	id := newID()
	large := entries(0, 20)
	for i := range large {
		large[i].Payload = []byte(`"` + strings.Repeat("x", 250_000) + `"`)
	}
	err := gateway.Append(t.Context(), es.Append{ID: id, Entries: large})
	if err == nil || !strings.Contains(err.Error(), "fewer entries") || errors.Is(err, es.ErrUnavailable) {
		t.Errorf("got %v", err)
	}
	if err := gateway.Append(t.Context(), es.Append{ID: id, Entries: large[:15]}); err != nil {
		t.Errorf("3.75 MB should fit: %v", err)
	}
}

func TestAnExpiredReceiptCountsAsMissing(t *testing.T) {
	s := newStore(t)
	gateway := s.open(t, s.settings())
	id, expired := newID(), receipt()
	expired.ExpiresAt = time.Now().Add(-5 * time.Second)
	renewed := receipt()
	renewed.CommandID = expired.CommandID
	var err error
	for version, kept := range []es.Receipt{expired, renewed, renewed} {
		_, found, readErr := gateway.Receipt(t.Context(), "", kept.CommandID)
		if readErr != nil || found != (version == 2) {
			t.Errorf("before write %d: %t, %v", version+1, found, readErr)
		}
		err = gateway.Append(t.Context(), es.Append{
			ID: id, ExpectedVersion: uint64(version), Entries: entries(uint64(version), 1), Receipts: []es.Receipt{kept},
		})
		if err != nil && version < 2 {
			t.Fatal(err)
		}
	}
	var handled *es.HandledError
	if !errors.As(err, &handled) {
		t.Errorf("got %v", err)
	}
}

// The contract tries these conditions on a store. Here they are held to the letter, without one.
func TestAWriteIsOnTheConditionThatNobodyHasWrittenSince(t *testing.T) {
	url, _ := server(t, 0, nil)
	transport := newTransport(http.DefaultClient)
	client := dynamodb.NewClient(aws.Config{
		Region: "us-east-1", BaseEndpoint: &url, HTTPClient: transport, Credentials: credentials.NewStaticCredentialsProvider("local", "local", ""),
	})
	gateway, err := dynamodb.New(client, dynamodb.Settings{JournalTable: "journal", SnapshotTable: "snapshot"})
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range []struct {
		after uint64
		heed  bool
		want  string
	}{
		{0, false, "attribute_not_exists(pkey) attribute_not_exists(pkey)"},
		{4, false, "version = :expected attribute_not_exists(pkey)"},
		{4, true, "version = :expected AND attribute_not_exists(asked) attribute_not_exists(pkey)"},
	} {
		transport.Clear()
		if err := gateway.Append(t.Context(), es.Append{ID: newID(), ExpectedVersion: one.after, Heed: one.heed, Entries: entries(one.after, 1)}); err != nil {
			t.Fatal(err)
		}
		var sent struct {
			TransactItems []map[string]struct {
				ConditionExpression       string
				ExpressionAttributeValues map[string]map[string]string
			}
		}
		if err := json.Unmarshal(transport.Calls(write)[0].Body, &sent); err != nil {
			t.Fatal(err)
		}
		var conditions []string
		for _, change := range sent.TransactItems {
			for _, sent := range change {
				conditions = append(conditions, sent.ConditionExpression)
				if expected, is := sent.ExpressionAttributeValues[":expected"]; is && expected["N"] != fmt.Sprint(one.after) {
					t.Errorf("after %d it expects %v", one.after, expected)
				}
			}
		}
		if got := strings.Join(conditions, " "); got != one.want {
			t.Errorf("after %d, on the condition %q, want %q", one.after, got, one.want)
		}
	}
}
