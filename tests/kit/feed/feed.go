// Package feed tests projections and process managers: it projects events into a database with the real projector, and
// then the test reads the rows.
package feed

import (
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"example.com/threads/es"
	"example.com/threads/es/projection"
	"example.com/threads/es/rowstore"
	"example.com/threads/tests/kit"
)

// Feed is a projection that follows a journal of its own. It is not for concurrent use.
type Feed struct {
	Caller es.Caller // of the next events, which each have an executor and a correlation id of their own

	t         testing.TB
	projector *projection.Projector
	now       time.Time
	executor  string // of the last event
	versions  map[es.AggregateID]uint64
}

// Tick is the time between two events.
const Tick = time.Millisecond

// New returns a feed of the named projection, whose rows are in db.
func New(t testing.TB, db *sqlx.DB, name string, handlers ...projection.Handler) *Feed {
	t.Helper()
	store, err := rowstore.New(db, name)
	if err != nil {
		t.Fatal(err)
	}
	return &Feed{
		t: t, projector: projection.New(store, nil, projection.Options{}, handlers...), versions: map[es.AggregateID]uint64{},
		now: time.Date(2024, 2, 29, 12, 0, 0, 123456000, time.UTC),
	}
}

// Now returns the time of the last event.
func (f *Feed) Now() time.Time { return f.now }

// Executor returns the executor of the last event. Each event has another one.
func (f *Feed) Executor() string { return f.executor }

// Happened projects the next events of an aggregate, each a [Tick] after the one before, and returns their envelopes.
func Happened[E any](f *Feed, codec *es.Codec[E], tenant es.Tenant, id string, events ...E) []es.Envelope {
	f.t.Helper()
	var envelopes []es.Envelope
	var records []projection.Record
	for _, event := range events {
		recorded := record(f, codec, tenant, id, event)
		envelopes = append(envelopes, recorded.Envelope)
		records = append(records, Record(f.t, codec, recorded))
	}
	outcome, err := f.projector.Project(f.t.Context(), projection.Batch{Records: records})
	if err != nil || outcome.Applied != len(records) {
		f.t.Fatalf("%d of %d events are in the rows: %+v, %v", outcome.Applied, len(records), outcome, err)
	}
	return envelopes
}

// Record returns an event as a source of changes delivers it.
func Record[E any](t testing.TB, codec *es.Codec[E], recorded es.Recorded[E]) projection.Record {
	t.Helper()
	payload, err := codec.Encode(recorded)
	if err != nil {
		t.Fatal(err)
	}
	return projection.Record{Key: recorded.Aggregate(), SeqNr: recorded.SeqNr, Payload: payload}
}

func record[E any](f *Feed, codec *es.Codec[E], tenant es.Tenant, id string, event E) es.Recorded[E] {
	key := es.AggregateID{Tenant: tenant, Type: codec.Type(), ID: id}
	f.now = f.now.Add(Tick)
	f.versions[key]++
	f.executor = kit.NewID[any]().String()
	eventID := kit.NewID[any]().String()
	caller := f.Caller
	caller.Tenant, caller.Executor, caller.CorrelationID = tenant, f.executor, "of-"+eventID
	return es.Recorded[E]{Event: event, Envelope: es.Envelope{
		EventID: eventID, AggregateType: key.Type, AggregateID: key.ID, SeqNr: f.versions[key], OccurredAt: f.now,
		Caller: caller,
	}}
}
