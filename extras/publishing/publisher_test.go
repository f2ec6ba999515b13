package publishing_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"
	"testing"
	"time"

	"github.com/oklog/ulid/v2"

	"example.com/threads/es"
	"example.com/threads/es/projection"
	"example.com/threads/es/rowstore"
	"example.com/threads/extras/publishing"
	"example.com/threads/tests/readmodeltest"
)

// journal has the same number of events for each aggregate.
type journal struct {
	es.Journal // what is not called
	keys       []es.AggregateID
	each       uint64
}

func newJournal(aggregates int, each uint64) journal {
	j := journal{each: each}
	for range aggregates {
		j.keys = append(j.keys, es.AggregateID{Type: "order", ID: ulid.Make().String()})
	}
	return j
}

func record(key es.AggregateID, seqNr uint64) projection.Record {
	return projection.Record{Key: key, SeqNr: seqNr, Payload: fmt.Appendf(nil, "%s %d", key.ID, seqNr)}
}

// orders is the aggregate type of the journal.
type orders struct{ es.AnyAggregate }

func (orders) Type() string { return "order" }

func (orders) DecodeEvent(payload []byte) (e es.Recorded[any], err error) {
	e.AggregateType = "order"
	_, err = fmt.Sscan(string(payload), &e.AggregateID, &e.SeqNr)
	return e, err
}

func (orders) EncodeEvent(es.Recorded[any]) (name string, payload []byte, err error) {
	return "Ordered", []byte("{}"), nil
}

func (j journal) Head(context.Context, es.AggregateID) (es.Head, error) {
	return es.Head{Version: j.each}, nil
}

func (journal) EntriesAt(context.Context, es.AggregateID, []uint64) iter.Seq2[es.Entry, error] {
	return func(func(es.Entry, error) bool) {}
}

func (j journal) Entries(_ context.Context, key es.AggregateID, after, upTo uint64) iter.Seq2[es.Entry, error] {
	return func(yield func(es.Entry, error) bool) {
		for seqNr := after + 1; seqNr <= upTo; seqNr++ {
			if !yield(es.Entry{SeqNr: seqNr, Payload: record(key, seqNr).Payload}, nil) {
				return
			}
		}
	}
}

// testBroker records the accepted events, and fails as a test demands.
type testBroker struct {
	mu      sync.Mutex
	seen    map[es.AggregateID]uint64
	repeats int
	fault   func(publishing.Event) error
	faults  []error
}

func (b *testBroker) Publish(_ context.Context, event publishing.Event) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.fault != nil {
		if err := b.fault(event); err != nil {
			return err
		}
	}
	last := b.seen[event.Aggregate()]
	switch {
	case event.SeqNr > last+1:
		b.faults = append(b.faults, fmt.Errorf("event %d of %s was followed by event %d", last, event.Aggregate(), event.SeqNr))
	case event.SeqNr <= last:
		b.repeats++
	}
	b.seen[event.Aggregate()] = max(last, event.SeqNr)
	return nil
}

func (b *testBroker) has(j journal, version uint64) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	err := errors.Join(b.faults...)
	for _, key := range j.keys {
		if b.seen[key] != version {
			err = errors.Join(err, fmt.Errorf("%s was published up to %d, want %d", key, b.seen[key], version))
		}
	}
	return err
}

func newPublisher(t *testing.T, db *readmodeltest.Database, publish publishing.Publish, j es.Journal) (*publishing.Publisher, *projection.Projector) {
	t.Helper()
	store, err := rowstore.New(db.DB, "publisher")
	if err != nil {
		t.Fatal(err)
	}
	p := publishing.New(store, publish)
	return p, projection.New(p, j, projection.Options{Attempts: 4}, publishing.Handler{AnyAggregate: orders{}})
}

// until repeats a call until it succeeds, as a source does.
func until(t *testing.T, do func() error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for {
		err := do()
		if err == nil {
			return
		}
		select {
		case <-ctx.Done():
			t.Fatal(err)
		case <-time.After(time.Millisecond):
		}
	}
}

func TestARefusedEventParksItsAggregateAlone(t *testing.T) {
	db, j := readmodeltest.SQLite(t), newJournal(2, 9)
	b := &testBroker{seen: map[es.AggregateID]uint64{}}
	asked := 0
	b.fault = func(event publishing.Event) error {
		if event.Aggregate() == j.keys[0] && event.SeqNr == 5 {
			asked++
			return publishing.Refused(errors.New("too spicy"))
		}
		return nil
	}
	p, projector := newPublisher(t, db, b.Publish, j)
	outcome, err := projector.Project(t.Context(), j.batch())
	if err != nil || outcome.Parked != 1 || b.seen[j.keys[0]] != 4 || b.seen[j.keys[1]] != 9 || b.repeats != 0 || asked != 1 {
		t.Errorf("%+v, %v, published %v, %d repeats, asked %d times", outcome, err, b.seen, b.repeats, asked)
	}
	letters, err := p.Parked(t.Context(), time.Now().Add(time.Hour), es.AggregateID{}, 10)
	if err != nil || len(letters) != 1 || letters[0].Key != j.keys[0] || letters[0].SeqNr != 5 || letters[0].Reason != "the broker refuses the event: too spicy" {
		t.Errorf("%+v, %v", letters, err)
	}
	b.fault = nil
	_, again := newPublisher(t, db, b.Publish, j)
	if _, err := again.RetryParked(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := b.has(j, 9); err != nil || b.repeats != 0 {
		t.Errorf("%v, %d repeats", err, b.repeats)
	}
}

// During an outage positions and checkpoint must not move, nothing else may be delayed, and the broker must not be
// called too often.
func TestAnOutageDelays(t *testing.T) {
	db, j := readmodeltest.SQLite(t), newJournal(1, 3)
	b := &testBroker{seen: map[es.AggregateID]uint64{}}
	asked := 0
	b.fault = func(event publishing.Event) error {
		asked++
		return &publishing.BusyError{Cause: errors.New("come back later"), After: time.Hour}
	}
	p, projector := newPublisher(t, db, b.Publish, j)
	batch := projection.Batch{Records: []projection.Record{record(j.keys[0], 1)}, Checkpoint: projection.Checkpoint{Source: "s", Shard: "1", Position: "1"}}
	for range 3 {
		if _, err := projector.Project(t.Context(), batch); !errors.Is(err, projection.ErrTransient) {
			t.Fatalf("got %v", err)
		}
	}
	versions, err := p.Versions(t.Context(), j.keys)
	if err != nil || len(versions) != 0 || asked != 1 || p.Outage() == nil || p.Failures.Load() != 1 {
		t.Errorf("versions %v, %v; asked %d times, outage %v", versions, err, asked, p.Outage())
	}
	store, err := rowstore.New(db.DB, "publisher")
	if err != nil {
		t.Fatal(err)
	}
	if at, err := store.Checkpoints(t.Context(), "s"); err != nil || len(at) != 0 {
		t.Errorf("the checkpoint has moved: %v, %v", at, err)
	}
}
