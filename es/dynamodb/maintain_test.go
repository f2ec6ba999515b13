package dynamodb_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"example.com/threads/es"
	"example.com/threads/es/dynamodb"
	"example.com/threads/es/estest"
)

func TestMaintainer(t *testing.T) {
	s := newStore(t)
	settings := s.settings()
	settings.SnapshotKeep = 5
	s.runMaintainer(t, s.open(t, settings))
}

func (s *store) runMaintainer(t *testing.T, gateway es.Store) {
	estest.RunMaintainer(t, estest.Maintained{
		Harness: s.harness(func(dynamodb.Settings) es.Store { return gateway })(t, estest.Settings{}),
		SpoilPointer: func(t *testing.T, id es.AggregateID) {
			s.set(t, s.snapshot, id, "0", "snapshot_version", &types.AttributeValueMemberS{Value: "4"})
		},
		RemoveEntry: func(t *testing.T, id es.AggregateID, seqNr uint64) { s.remove(t, s.journal, id, fmt.Sprint(seqNr)) },
	})
}

func TestAttributesThatContradictTheKeyAreTold(t *testing.T) {
	s := newStore(t)
	gateway := s.open(t, s.settings())
	id := begin(t, gateway, 3)
	s.set(t, s.journal, id, "2", "seq_nr", numberOf(7))
	s.set(t, s.journal, id, "3", "aid", &types.AttributeValueMemberS{Value: "notebook-other"})
	s.set(t, s.snapshot, id, "0", "aid", &types.AttributeValueMemberS{Value: "notebook-other"})
	fields := map[uint64]string{}
	for stored, err := range gateway.StoredEntries(t.Context(), id) {
		if err != nil {
			t.Fatal(err)
		}
		for _, fault := range stored.Faults {
			fields[stored.SeqNr] += fault.Field
		}
	}
	if len(fields) != 2 || fields[2] != "seq_nr" || fields[3] != "aid" {
		t.Errorf("faults of entries: %v", fields)
	}
	head, err := gateway.StoredHead(t.Context(), id)
	if err != nil || head.Version != 3 || len(head.Faults) != 1 || head.Faults[0].Field != "aid" {
		t.Errorf("head %+v, %v", head, err)
	}
	if err := gateway.ReplaceHead(t.Context(), id, head, es.Head{Version: 3}); err != nil {
		t.Fatal(err)
	}
	if head, err := gateway.StoredHead(t.Context(), id); err != nil || !head.Is(es.Head{Version: 3}) {
		t.Errorf("after the repair: %+v, %v", head, err)
	}
}

func TestAnotherShardCountIsTold(t *testing.T) {
	s := newStore(t)
	id := es.AggregateID{Type: "notebook", ID: "01H42K4ABWQ5V2XQEP3A48VE0Z"} // not in shard 0 of 64
	beginAs(t, s.open(t, s.settings()), id, 2)
	settings := s.settings()
	settings.Shards = []int{1}
	var found int
	for stored, err := range s.open(t, settings).StoredAggregates(t.Context()) {
		if err != nil || stored.ID != id || len(stored.Faults) != 1 || stored.Faults[0].Expected != "notebook-0" {
			t.Errorf("%+v, %v", stored, err)
		}
		found++
	}
	if found == 0 {
		t.Error("the aggregate is not found")
	}
}

// A head that can't be read must not hide the others.
func TestAHeadWithoutANumberIsListed(t *testing.T) {
	s := newStore(t)
	gateway := s.open(t, s.settings())
	broken, good := begin(t, gateway, 2), begin(t, gateway, 2)
	s.set(t, s.snapshot, broken, "0", "version", &types.AttributeValueMemberS{Value: "two"})
	listed := map[es.AggregateID]uint64{}
	for head, err := range gateway.Heads(t.Context(), "notebook") {
		if err != nil {
			t.Fatal(err)
		}
		listed[head.ID] = head.Version
	}
	if version, found := listed[broken]; !found || version != 0 || listed[good] != 2 {
		t.Errorf("the heads are %v", listed)
	}
	if _, err := gateway.Head(t.Context(), broken); es.KindOf(err) != es.Inconsistent {
		t.Errorf("got %v", err)
	}
}

func TestReplacingAHeadWhoseAnswerIsLost(t *testing.T) {
	s := newStore(t)
	gateway := s.open(t, s.settings())
	id := begin(t, gateway, 2)
	s.set(t, s.snapshot, id, "0", "version", numberOf(1))
	found, err := gateway.StoredHead(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	s.transport.On("UpdateItem", 1, LoseAnswer(func() {}))
	if err := gateway.ReplaceHead(t.Context(), id, found, es.Head{Version: 2}); err != nil {
		t.Error(err)
	}
	wantVersion(t, gateway, id, 2)
}

// set overwrites an attribute of an aggregate's item.
func (s *store) set(t *testing.T, table string, id es.AggregateID, number, attribute string, value types.AttributeValue) {
	t.Helper()
	_, err := s.client.UpdateItem(t.Context(), &sdk.UpdateItemInput{
		TableName: aws.String(table), Key: s.keyOf(id, number),
		UpdateExpression:          aws.String("SET #attribute = :value"),
		ConditionExpression:       aws.String("attribute_exists(pkey)"),
		ExpressionAttributeNames:  map[string]string{"#attribute": attribute},
		ExpressionAttributeValues: map[string]types.AttributeValue{":value": value},
	})
	if err != nil {
		t.Fatal(err)
	}
}

// remove deletes an aggregate's item.
func (s *store) remove(t *testing.T, table string, id es.AggregateID, number string) {
	t.Helper()
	_, err := s.client.DeleteItem(t.Context(), &sdk.DeleteItemInput{
		TableName: aws.String(table), Key: s.keyOf(id, number), ConditionExpression: aws.String("attribute_exists(pkey)"),
	})
	if err != nil {
		t.Fatal(err)
	}
}

func (*store) keyOf(id es.AggregateID, number string) map[string]types.AttributeValue {
	pkey := id.Type + "-" + shardOf(id.ID)
	if id.Tenant != "" {
		pkey = id.Tenant.String() + "#" + pkey
	}
	return map[string]types.AttributeValue{
		"pkey": &types.AttributeValueMemberS{Value: pkey}, "skey": &types.AttributeValueMemberS{Value: id.String() + "-" + number},
	}
}

func numberOf(value uint64) types.AttributeValue {
	return &types.AttributeValueMemberN{Value: fmt.Sprint(value)}
}

func TestRemovalsThatWereLeftOverAreAskedForAgain(t *testing.T) {
	s := newStore(t)
	gateway := s.open(t, s.settings())
	id := begin(t, gateway, 60)
	leaveOver := func(call Call) (response *http.Response, err error) { // all but some
		var input struct{ RequestItems map[string][]any }
		if err := json.Unmarshal(call.Body, &input); err != nil {
			return nil, err
		}
		asked := input.RequestItems[s.journal]
		done := len(asked) / 3
		if done > 0 {
			input.RequestItems[s.journal] = asked[:done]
			if call.Body, err = json.Marshal(input); err != nil {
				return nil, err
			}
			if response, err = call.Send(); err != nil || response.StatusCode != http.StatusOK {
				return response, err
			}
			_ = response.Body.Close()
		}
		return respond(http.StatusOK, map[string]any{"UnprocessedItems": map[string]any{s.journal: asked[done:]}}), nil
	}
	left := func() (count int) {
		for _, err := range gateway.StoredEntries(t.Context(), id) {
			if count++; err != nil {
				t.Fatal(err)
			}
		}
		return count
	}
	s.transport.On("BatchWriteItem", Forever, leaveOver)
	wantUnavailable(t, gateway.RemoveEntries(t.Context(), id, 1, 59))
	if left := left(); left <= 35 || left >= 60 {
		t.Errorf("%d entries are left", left)
	}
	s.transport.Clear()
	s.transport.On("BatchWriteItem", 4, leaveOver)
	if err := gateway.RemoveEntries(t.Context(), id, 1, 59); err != nil {
		t.Fatal(err)
	}
	if left := left(); left != 1 {
		t.Errorf("%d entries are left, want the last", left)
	}
}
