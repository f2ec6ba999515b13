package dynamodb_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"example.com/threads/es"
	"example.com/threads/es/dynamodb"
)

// incompressible is a state that needs several items even when compressed.
func incompressible(version uint64) es.Snapshot {
	payload := make([]byte, 700_000)
	for i := range payload {
		payload[i] = byte(rand.Uint32())
	}
	return es.Snapshot{Version: version, Payload: payload}
}

func save(t *testing.T, gateway *dynamodb.Gateway, id es.AggregateID, snapshot es.Snapshot) {
	t.Helper()
	if err := gateway.SaveSnapshot(t.Context(), id, snapshot); err != nil {
		t.Fatal(err)
	}
}

func latest(t *testing.T, gateway *dynamodb.Gateway, id es.AggregateID) es.Snapshot {
	t.Helper()
	head, err := gateway.Head(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	for snapshot, err := range gateway.Snapshots(t.Context(), id, head) {
		if err != nil {
			t.Fatal(err)
		}
		if snapshot.Broken == "" {
			return snapshot
		}
	}
	t.Fatal("there is no snapshot")
	return es.Snapshot{}
}

func TestPartsStayOutOfTheIndexAndGoWithTheirSnapshot(t *testing.T) {
	s := newStore(t)
	gateway := s.open(t, s.settings())
	id := begin(t, gateway, 9)
	save(t, gateway, id, incompressible(5))
	stored := s.items(t, s.snapshot, id)
	if len(stored) < 4 { // the head, the main item, and at least two parts
		t.Fatalf("%d items", len(stored))
	}
	indexed, err := s.client.Scan(t.Context(), &sdk.ScanInput{TableName: aws.String(s.snapshot), IndexName: aws.String("snapshot-aid-index")})
	if err != nil || len(indexed.Items) != 2 {
		t.Errorf("the index shows %d items, %v; want the head and the main item", len(indexed.Items), err)
	}

	save(t, gateway, id, es.Snapshot{Version: 9, Payload: []byte("{}")})
	if stored := s.items(t, s.snapshot, id); len(stored) != 2 {
		t.Errorf("%d items are left, want the head and the latest snapshot", len(stored))
	}
}

func TestASavingThatBreaksOffShowsNothing(t *testing.T) {
	s := newStore(t)
	gateway := s.open(t, s.settings())
	id := begin(t, gateway, 9)
	save(t, gateway, id, es.Snapshot{Version: 3, Payload: []byte("{}")})
	interrupted := incompressible(9)
	for _, operation := range []string{"PutItem", "UpdateItem"} { // fail a part or the main item, or the pointer
		s.transport.Clear()
		s.transport.On(operation, 1, func(call Call) (*http.Response, error) {
			s.transport.On(operation, Forever, Reset)
			if operation == "UpdateItem" {
				return Reset(call)
			}
			return call.Send()
		})
		wantUnavailable(t, gateway.SaveSnapshot(t.Context(), id, interrupted))
		if got := latest(t, gateway, id); got.Version != 3 {
			t.Errorf("after %s failed the latest is %d", operation, got.Version)
		}
	}
	s.transport.Clear()
	save(t, gateway, id, interrupted)
	if got := latest(t, gateway, id); got.Version != 9 || string(got.Payload) != string(interrupted.Payload) {
		t.Errorf("the second try left the latest at %d", got.Version)
	}
}

func TestTheSameVersionInOtherBytesMixesNothing(t *testing.T) {
	s := newStore(t)
	gateway := s.open(t, s.settings())
	id := begin(t, gateway, 9)
	first, second := incompressible(9), incompressible(9)
	s.transport.On("UpdateItem", 1, func(call Call) (*http.Response, error) { // the pointer is not yet moved
		save(t, gateway, id, second)
		return call.Send()
	})
	save(t, gateway, id, first)
	if got := latest(t, gateway, id); string(got.Payload) != string(first.Payload) {
		t.Error("the snapshot that was completed first is not read")
	}
	parts := 0
	for _, found := range s.items(t, s.snapshot, id) {
		if found["aid"] == nil {
			parts++
		}
	}
	if main := s.get(t, s.snapshot, "notebook-"+shardOf(id.ID), "notebook-"+id.ID+"-9"); num(main, "parts") != fmt.Sprint(parts) {
		t.Errorf("%d parts are stored for a snapshot of %s", parts, num(main, "parts"))
	}
}

func TestSupersededSnapshotsExpire(t *testing.T) {
	s := newStore(t)
	settings := s.settings()
	settings.SnapshotTTL = time.Hour
	settings.SnapshotKeep = 1
	gateway := s.open(t, settings)
	id := begin(t, gateway, 40)
	save(t, gateway, id, incompressible(10))
	before := time.Now().Add(time.Hour).Unix()
	for _, version := range []uint64{20, 30, 40} {
		save(t, gateway, id, es.Snapshot{Version: version, Payload: []byte("{}")})
	}
	for _, found := range s.items(t, s.snapshot, id) {
		skey := str(found, "skey")
		superseded := strings.HasPrefix(skey, id.String()+"-10") || strings.HasPrefix(skey, id.String()+"-20")
		var ttl int64
		if found["ttl"] != nil {
			if _, err := fmt.Sscan(num(found, "ttl"), &ttl); err != nil {
				t.Fatal(err)
			}
		}
		if superseded && (ttl < before || ttl > before+120) || !superseded && ttl != 0 {
			t.Errorf("%s expires at %d; superseded: %t", skey, ttl, superseded)
		}
	}
	updates := len(s.transport.Calls("UpdateItem"))
	grown := es.Append{ID: id, ExpectedVersion: 40, Entries: entries(40, 1)}
	if err := gateway.Append(t.Context(), grown); err != nil {
		t.Fatal(err)
	}
	save(t, gateway, id, es.Snapshot{Version: 41, Payload: []byte("{}")})
	if more := len(s.transport.Calls("UpdateItem")) - updates; more != 2 { // of the pointer, and of the snapshot at 30
		t.Errorf("%d updates, so the ttl of an expiring item was set again", more)
	}
}

func TestThePointerWaitsForACommand(t *testing.T) {
	s := newStore(t)
	gateway := s.open(t, s.settings())
	id := begin(t, gateway, 5)
	s.transport.On("UpdateItem", 3, Refuse(http.StatusBadRequest, "TransactionConflictException"))
	save(t, gateway, id, es.Snapshot{Version: 5, Payload: []byte("{}")})
	if got := latest(t, gateway, id); got.Version != 5 {
		t.Errorf("the latest is %d", got.Version)
	}
}

func TestASnapshotOfAnotherProgramIsRead(t *testing.T) {
	s := newStore(t)
	gateway := s.open(t, s.settings())
	id := begin(t, gateway, 5)
	save(t, gateway, id, es.Snapshot{Version: 5, Payload: []byte("{}")})
	main := s.get(t, s.snapshot, "notebook-"+shardOf(id.ID), "notebook-"+id.ID+"-5")
	plain := map[string]types.AttributeValue{
		"pkey": main["pkey"], "skey": main["skey"], "aid": main["aid"], "seq_nr": main["seq_nr"],
		"payload": &types.AttributeValueMemberS{Value: `{"plain":true}`},
	}
	if _, err := s.client.PutItem(t.Context(), &sdk.PutItemInput{TableName: aws.String(s.snapshot), Item: plain}); err != nil {
		t.Fatal(err)
	}
	if got := latest(t, gateway, id); got.Version != 5 || string(got.Payload) != `{"plain":true}` {
		t.Errorf("read %s at %d", got.Payload, got.Version)
	}
}

func TestTheBytesOfAnotherSnapshotAreNotTaken(t *testing.T) {
	s := newStore(t)
	settings := s.settings()
	settings.SnapshotKeep = 1
	gateway := s.open(t, settings)
	id := begin(t, gateway, 9)
	save(t, gateway, id, es.Snapshot{Version: 5, Payload: []byte(`{"state":5}`)})
	save(t, gateway, id, es.Snapshot{Version: 9, Payload: []byte(`{"state":9}`)})
	pkey, skey := "notebook-"+shardOf(id.ID), "notebook-"+id.ID
	newer := s.get(t, s.snapshot, pkey, skey+"-9")
	newer["payload"] = s.get(t, s.snapshot, pkey, skey+"-5")["payload"]
	if _, err := s.client.PutItem(t.Context(), &sdk.PutItemInput{TableName: aws.String(s.snapshot), Item: newer}); err != nil {
		t.Fatal(err)
	}
	if got := latest(t, gateway, id); got.Version != 5 || string(got.Payload) != `{"state":5}` {
		t.Errorf("read %s at %d", got.Payload, got.Version)
	}
}
