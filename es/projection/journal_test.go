package projection_test

import (
	"slices"
	"testing"
	"time"

	"github.com/oklog/ulid/v2"

	"example.com/threads/es"
	"example.com/threads/es/dynamodb/dynamodbtest"
	"example.com/threads/es/projection"
)

func TestEventsAfter(t *testing.T) {
	gateway := dynamodbtest.New(t)
	projector := projection.New(nil, gateway, projection.Options{})
	write := func(aggregateType string, events uint64) es.AggregateID {
		t.Helper()
		key := es.AggregateID{Type: aggregateType, ID: ulid.Make().String()}
		entries := make([]es.Entry, events)
		for i := range entries {
			entries[i] = es.Entry{SeqNr: uint64(i) + 1, EventID: ulid.Make().String(), OccurredAt: time.Now(), Payload: []byte(`"event"`)}
		}
		if err := gateway.Append(t.Context(), es.Append{ID: es.AggregateID{Type: aggregateType, ID: key.ID}, Entries: entries}); err != nil {
			t.Fatal(err)
		}
		return key
	}
	key, other := write("order", 3), write("order", 1)
	write("invoice", 1)

	var numbers []uint64
	for record, err := range projector.EventsAfter(t.Context(), key, 1) {
		if err != nil || record.Key != key || string(record.Payload) != `"event"` {
			t.Fatalf("%+v, %v", record, err)
		}
		numbers = append(numbers, record.SeqNr)
	}
	if !slices.Equal(numbers, []uint64{2, 3}) {
		t.Errorf("after event 1 are %v", numbers)
	}
	// The head goes back although the events are there, and the rows know events beyond it.
	id := es.AggregateID{Type: key.Type, ID: key.ID}
	if err := gateway.ReplaceHead(t.Context(), id, es.StoredHead{Head: es.Head{Version: 3}, Exists: true}, es.Head{Version: 1}); err != nil {
		t.Fatal(err)
	}
	told := false
	for record, err := range projector.EventsAfter(t.Context(), key, 2) {
		if told = es.KindOf(err) == es.Inconsistent; !told {
			t.Errorf("%+v, %v", record, err)
		}
	}
	if !told {
		t.Error("a head that is behind passes for a journal that ends there")
	}

	versions := map[es.AggregateID]uint64{}
	for head, err := range gateway.Heads(t.Context(), "order") {
		if err != nil {
			t.Fatal(err)
		}
		versions[head.ID] = head.Version
	}
	if len(versions) != 2 || versions[key] != 1 || versions[other] != 1 {
		t.Errorf("the heads are %v", versions)
	}
}
