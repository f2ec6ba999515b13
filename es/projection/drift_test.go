package projection_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"example.com/threads/es"
	"example.com/threads/es/estest/testenv"
	"example.com/threads/es/projection"
)

// quietStore has a position at version 1 for every aggregate; all rows are being written to.
type quietStore struct {
	projection.Store
	keys []es.AggregateID
}

func (s quietStore) Positions(_ context.Context, after es.AggregateID, _ int) (found []projection.AtVersion, err error) {
	if after != (es.AggregateID{}) {
		return nil, nil
	}
	for _, key := range s.keys {
		found = append(found, projection.AtVersion{Key: key, Version: 1})
	}
	return found, nil
}

func (quietStore) Versions(context.Context, []es.AggregateID) (map[es.AggregateID]uint64, error) {
	return nil, nil
}
func (quietStore) Skipped(context.Context) (map[projection.AtVersion]string, error) { return nil, nil }
func (quietStore) View(context.Context, func(context.Context, projection.Tx) error) error {
	return projection.ErrTransient
}

// countingJournal counts the reads of aggregates, whose heads have the same version.
type countingJournal struct {
	es.Journal
	keys    []es.AggregateID
	version uint64
	asked   atomic.Int64
}

func (j *countingJournal) Heads(context.Context, string) iter.Seq2[es.StoredAggregate, error] {
	return func(yield func(es.StoredAggregate, error) bool) {
		for _, key := range j.keys {
			if !yield(es.StoredAggregate{ID: key, Head: es.Head{Version: j.version}}, nil) {
				return
			}
		}
	}
}

func (j *countingJournal) Head(context.Context, es.AggregateID) (es.Head, error) {
	j.asked.Add(1)
	return es.Head{Version: j.version}, nil
}

func (j *countingJournal) Entries(context.Context, es.AggregateID, uint64, uint64) iter.Seq2[es.Entry, error] {
	return func(yield func(es.Entry, error) bool) { yield(es.Entry{SeqNr: 1}, nil) }
}

// anyRows is a handler whose rows are always right.
type anyRows struct{ projection.Verifiable }

func (anyRows) Type() string                                    { return "order" }
func (anyRows) Shadow(es.AggregateID, uint64) projection.Shadow { return noRest{} }

type noRest struct{ projection.Shadow }

func (noRest) Rest() (uint64, bool) { return 0, false }

// Watch must keep to its rate in every part of a cycle: while it reads the journal, and while it reads the positions.
func TestWatchKeepsToItsRate(t *testing.T) {
	keys := fiftyKeys()
	expectRate(t, quietStore{keys: keys}, &countingJournal{keys: keys, version: 1}, 10)
}

// The rate is that of small aggregates, so that large ones do not take all of the processor.
func TestWatchTakesTimeForLargeAggregates(t *testing.T) {
	expectRate(t, quietStore{}, &countingJournal{keys: fiftyKeys(), version: 2000}, 3)
}

// The second would get all events, and the rows of the first would stay empty.
func TestTwoHandlersOfOneType(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("they were accepted")
		}
	}()
	projection.New(quietStore{}, &countingJournal{}, projection.Options{}, anyRows{}, anyRows{})
}

// mistaken is a handler that panics where rows are verified.
type mistaken struct{ anyRows }

func (mistaken) Shadow(es.AggregateID, uint64) projection.Shadow            { panic("a mistake") }
func (mistaken) Clear(context.Context, projection.Tx, es.AggregateID) error { return nil }

func (quietStore) Change(ctx context.Context, change func(context.Context, projection.Tx) error) error {
	return change(ctx, noTx{})
}

type noTx struct{ projection.Tx }

func (noTx) Load(context.Context, []es.AggregateID) (map[es.AggregateID]projection.Position, error) {
	return nil, nil
}

// The program goes on, and is told whose rows they are.
func TestAPanicWhileRowsAreVerified(t *testing.T) {
	projector := projection.New(quietStore{}, &countingJournal{}, projection.Options{}, mistaken{})
	key := fiftyKeys()[0]
	if _, err := projector.Verify(t.Context(), key); !errors.Is(err, projection.ErrRefused) || !strings.Contains(err.Error(), key.ID) {
		t.Errorf("verified with %v", err)
	}
	if err := projector.Remake(t.Context(), key); !errors.Is(err, projection.ErrRefused) || !strings.Contains(err.Error(), key.ID) {
		t.Errorf("made again with %v", err)
	}
}

// wrongHeads is a journal in which all heads contradict their events, but the one of "lost", which has none.
type wrongHeads struct{ countingJournal }

func (*wrongHeads) Heads(context.Context, string) iter.Seq2[es.StoredAggregate, error] {
	return func(func(es.StoredAggregate, error) bool) {}
}

func (*wrongHeads) Head(_ context.Context, key es.AggregateID) (es.Head, error) {
	if key.ID == "lost" {
		return es.Head{}, nil
	}
	return es.Head{}, &es.InconsistentError{ID: key, Head: 1, Event: 2}
}

func (*wrongHeads) EntriesAt(context.Context, es.AggregateID, []uint64) iter.Seq2[es.Entry, error] {
	return func(func(es.Entry, error) bool) {}
}

func (*wrongHeads) Entries(context.Context, es.AggregateID, uint64, uint64) iter.Seq2[es.Entry, error] {
	return func(func(es.Entry, error) bool) {}
}

// Rows that are ahead of the journal ask for a rebuild, however many others are wrong in other ways.
func TestRowsAheadAreKnownBesideManyWrongOnes(t *testing.T) {
	store := quietStore{}
	for i := range 1000 {
		store.keys = append(store.keys, es.AggregateID{Type: "order", ID: fmt.Sprint(i)})
	}
	store.keys = append(store.keys, es.AggregateID{Type: "order", ID: "lost"})
	projector := projection.New(store, &wrongHeads{}, projection.Options{Attempts: 1}, anyRows{})
	_, err := projector.Repair(t.Context())
	if found := projector.Drift(); err != nil || found.Wrong < 1000 || found.Ahead != 1 || found.First.ID != "lost" {
		t.Errorf("%+v, %v", found, err)
	}
}

func fiftyKeys() (keys []es.AggregateID) {
	for i := range 50 {
		keys = append(keys, es.AggregateID{Type: "order", ID: fmt.Sprint(i)})
	}
	return keys
}

// expectRate watches at a rate of ten small aggregates, and expects that at most so many are read per second.
func expectRate(t *testing.T, store quietStore, journal *countingJournal, want int64) {
	t.Helper()
	testenv.Bubble(t, func(t *testing.T) {
		projector := projection.New(store, journal, projection.Options{Attempts: 1}, anyRows{})
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			projector.Watch(ctx, 10)
		}()
		var total int64
		for range 60 { // several cycles
			<-time.After(time.Second)
			synctest.Wait()
			asked := journal.asked.Swap(0)
			if asked > want+1 {
				t.Errorf("asked about %d aggregates within a second", asked)
			}
			total += asked
		}
		if total < 100 {
			t.Errorf("asked %d times, and not even a cycle is over", total)
		}
		stop()
		<-ended
	})
}
