package dynamodb_test

import (
	"slices"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"example.com/threads/es"
	"example.com/threads/es/dynamodb"
)

// asFormer gives an aggregate's items the documents' form, with a version in the head.
func (s *store) asFormer(t *testing.T, id es.AggregateID, version string) {
	t.Helper()
	text := func(value string) types.AttributeValue { return &types.AttributeValueMemberS{Value: value} }
	for _, found := range s.items(t, s.journal, id) {
		found["ser_nr"], found["occurred_at"] = found["seq_nr"], text("2023-06-29T03:32:37.404481Z")
		delete(found, "seq_nr")
		if _, err := s.client.PutItem(t.Context(), &sdk.PutItemInput{TableName: aws.String(s.journal), Item: found}); err != nil {
			t.Fatal(err)
		}
	}
	head := s.head(t, id)
	delete(head, "seq_nr")
	s.change(t, head, map[string]types.AttributeValue{"ser_nr": text(num(head, "version")), "version": text(version), "payload": text("{}")})
}

func TestAHeadOfTheDocuments(t *testing.T) {
	for version, last := range map[string]uint64{"1": 3, "3": 3, "5": 5} { // the larger of ser_nr and version
		for first, change := range map[string]func(*dynamodb.Gateway, es.AggregateID) error{
			"a command": func(gateway *dynamodb.Gateway, id es.AggregateID) error {
				return gateway.Append(t.Context(), es.Append{ID: id, ExpectedVersion: last, Entries: entries(last, 1)})
			},
			"a snapshot": func(gateway *dynamodb.Gateway, id es.AggregateID) error {
				return gateway.SaveSnapshot(t.Context(), id, es.Snapshot{Version: last, Payload: []byte(`{"saved":true}`)})
			},
			"a request to yield": func(gateway *dynamodb.Gateway, id es.AggregateID) error {
				return gateway.AskToYield(t.Context(), id)
			},
		} {
			t.Run("version "+version+", then "+first, func(t *testing.T) {
				s := newStore(t)
				gateway := s.open(t, s.settings())
				id := begin(t, gateway, 3)
				s.asFormer(t, id, version)
				wantVersion(t, gateway, id, last)
				if got := latest(t, gateway, id); got.Version != 3 || string(got.Payload) != "{}" {
					t.Errorf("the state is %s at %d", got.Payload, got.Version)
				}
				heads := 0
				for head, err := range gateway.Heads(t.Context(), "notebook") {
					if heads++; err != nil || head.ID != id || head.Version != last {
						t.Errorf("%+v, %v", head, err)
					}
				}
				if heads != 1 {
					t.Errorf("%d heads", heads)
				}
				if err := change(gateway, id); err != nil {
					t.Fatal(err)
				}
				next := last
				if first == "a command" {
					next++
				}
				wantVersion(t, gateway, id, next)
				if got := latest(t, gateway, id); (got.Version == last && string(got.Payload) != "{}") != (first == "a snapshot") {
					t.Errorf("then the state is %s at %d", got.Payload, got.Version)
				}
				more := es.Append{ID: id, ExpectedVersion: next, Entries: entries(next, 1)}
				if err := gateway.Append(t.Context(), more); err != nil {
					t.Error(err)
				}
			})
		}
	}
}

func TestEventsOfTheDocuments(t *testing.T) {
	s := newStore(t)
	gateway := s.open(t, s.settings())
	id := begin(t, gateway, 3)
	s.asFormer(t, id, "3")
	if last, err := readAll(t, gateway, id, 3); last != 3 || err != nil {
		t.Errorf("read up to %d, %v", last, err)
	}
	for stored, err := range gateway.StoredEntries(t.Context(), id) {
		if err != nil || len(stored.Faults) > 0 || stored.OccurredAt.UnixMilli() != 1688009557404 {
			t.Errorf("%+v, %v", stored, err)
		}
	}
}

// A kept snapshot of the documents' form is intact, but may expire: it is replaced by one of the same version.
func TestAKeptSnapshotOfTheDocuments(t *testing.T) {
	s := newStore(t)
	gateway := s.open(t, s.settings())
	id := begin(t, gateway, 3)
	s.asFormer(t, id, "3")
	kept := s.head(t, id)
	kept["skey"] = &types.AttributeValueMemberS{Value: id.String() + "-3"}
	s.change(t, kept, map[string]types.AttributeValue{"ttl": &types.AttributeValueMemberN{Value: "4000000000"}})
	stored := slices.Collect(func(yield func(es.Snapshot) bool) {
		for snapshot, err := range gateway.StoredSnapshots(t.Context(), id) {
			if err != nil || !yield(snapshot) {
				t.Error(err)
				return
			}
		}
	})
	if len(stored) != 1 || stored[0].Version != 3 || stored[0].Broken != "" || !stored[0].Unlisted || string(stored[0].Payload) != "{}" {
		t.Errorf("stored are %+v", stored)
	}
	save(t, gateway, id, es.Snapshot{Version: 3, Payload: []byte(`{"saved":true}`)})
	saved := s.get(t, s.snapshot, "notebook-"+shardOf(id.ID), id.String()+"-3")
	if saved["ttl"] != nil || saved["seq_nr"] == nil {
		t.Errorf("then it is %v", saved)
	}
}

// Items that are not where programs look for them are nowhere.
func TestMisplacedItemsAreLeftOut(t *testing.T) {
	s := newStore(t)
	gateway := s.open(t, s.settings())
	id := begin(t, gateway, 1)
	for table, found := range map[string]map[string]types.AttributeValue{s.journal: s.items(t, s.journal, id)[0], s.snapshot: s.head(t, id)} {
		_, err := s.client.DeleteItem(t.Context(), &sdk.DeleteItemInput{
			TableName: aws.String(table), Key: map[string]types.AttributeValue{"pkey": found["pkey"], "skey": found["skey"]},
		})
		if err != nil {
			t.Fatal(err)
		}
		found["pkey"] = &types.AttributeValueMemberS{Value: "notebook-64"}
		if _, err := s.client.PutItem(t.Context(), &sdk.PutItemInput{TableName: aws.String(table), Item: found}); err != nil {
			t.Fatal(err)
		}
	}
	for head, err := range gateway.Heads(t.Context(), "notebook") {
		t.Errorf("a head: %+v, %v", head, err)
	}
	for part := range gateway.JournalParts() {
		for page, err := range gateway.ReadJournal(t.Context(), part, gateway.JournalParts(), "") {
			if err != nil || len(page.Entries) > 0 {
				t.Errorf("%+v, %v", page, err)
			}
		}
	}
	for stored, err := range gateway.StoredAggregates(t.Context()) {
		if err != nil || len(stored.Faults) == 0 {
			t.Errorf("%+v, %v", stored, err)
		}
	}
}
