package chatrows_test

import (
	"context"
	"fmt"
	"maps"
	mathrand "math/rand/v2"
	"reflect"
	"testing"
	"time"

	"example.com/threads/domain/thread"
	"example.com/threads/domain/thread/threadtest"
	"example.com/threads/es"
	"example.com/threads/es/projection"
	"example.com/threads/es/rowstore"
	"example.com/threads/interfaceadaptor/eventjson"
	"example.com/threads/interfaceadaptor/readmodel/chatrows"
	"example.com/threads/tests/kit"
	"example.com/threads/tests/kit/feed"
	"example.com/threads/tests/readmodeltest"
	"example.com/threads/usecase/chat"
)

// TestRowsAreWhatTheFoldSays projects all kinds of events of threads in batches of any size. The rows in the database
// must equal those that the fold makes of all events at once. The fold's own test is in usecase/chat.
func TestRowsAreWhatTheFoldSays(t *testing.T) {
	readmodeltest.Each(t, func(t *testing.T, db *readmodeltest.Database) {
		store, err := rowstore.New(db.DB, chatrows.Projection)
		if err != nil {
			t.Fatal(err)
		}
		projector := projection.New(store, nil, projection.Options{}, chatrows.Handlers()...)
		random := mathrand.New(mathrand.NewPCG(5, 5))
		want := chat.NewRows()
		var records []projection.Record
		for _, recorded := range everything(t) {
			if err := want.Apply(projection.Event{Envelope: recorded.Envelope, Event: recorded.Event}); err != nil {
				t.Fatal(err)
			}
			records = append(records, feed.Record(t, eventjson.Threads().Events, recorded))
		}
		for _, rows := range []any{want.Threads, want.Members, want.Messages} {
			kit.EveryField(t, "rows of this test", rows)
		}
		for len(records) > 0 {
			n := min(1+random.IntN(80), len(records))
			if outcome, err := projector.Project(t.Context(), projection.Batch{Records: records[:n]}); err != nil || outcome.Applied != n {
				t.Fatalf("%+v, %v", outcome, err)
			}
			records = records[n:]
		}

		got := chat.NewRows()
		maps.Copy(got.Threads, want.Threads)
		maps.Copy(got.Members, want.Members)
		maps.Copy(got.Messages, want.Messages)
		err = store.Change(t.Context(), func(ctx context.Context, tx projection.Tx) error { return chatrows.LoadRows(ctx, tx, got) })
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("the rows are\n%+v and should be\n%+v", got, want)
		}
	})
}

// everything returns the events of many threads, each of a tenant of its own. Their histories share ids.
func everything(t *testing.T) (events []es.Recorded[thread.Event]) {
	t.Helper()
	at := time.UnixMicro(1700000000123456).UTC()
	for number, history := range threadtest.Histories()[:100] {
		tenant, err := es.ParseTenant([]string{"", fmt.Sprint("t", number)}[min(number, 1)])
		if err != nil {
			t.Fatal(err)
		}
		key := chat.ThreadKey(tenant, kit.NewID[thread.Thread]())
		for i, event := range threadtest.Events(history) {
			at = at.Add(1234567 * time.Microsecond)
			events = append(events, es.Recorded[thread.Event]{Event: event, Envelope: es.Envelope{
				EventID: kit.NewID[thread.Event]().String(), AggregateType: key.Type, AggregateID: key.ID, SeqNr: uint64(i) + 1,
				OccurredAt: at, Caller: es.Caller{Tenant: tenant, Executor: threadtest.People[0].String(), ClientIP: "192.0.2.7", RequestID: "r", Source: "test"},
			}})
		}
	}
	return events
}
