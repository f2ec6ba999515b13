package publishing_test

import (
	"context"
	"errors"
	"iter"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"example.com/threads/es"
	"example.com/threads/es/estest/testenv"
	"example.com/threads/es/projection"
	"example.com/threads/es/rowstore"
	"example.com/threads/extras/publishing"
	"example.com/threads/tests/readmodeltest"
)

// slowly makes the broker need a while for each event.
func (b *testBroker) slowly(pause time.Duration) {
	b.fault = func(publishing.Event) error { return es.Wait(context.Background(), pause) }
}

// accepted returns the last event of an aggregate that the broker has accepted.
func (b *testBroker) accepted(key es.AggregateID) uint64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.seen[key]
}

func (j journal) batch() (batch projection.Batch) {
	for seqNr := uint64(1); seqNr <= j.each; seqNr++ {
		for _, key := range j.keys {
			batch.Records = append(batch.Records, record(key, seqNr))
		}
	}
	batch.Checkpoint = projection.Checkpoint{Source: "s", Shard: "1", Position: "1"}
	return batch
}

// project projects in the background. The returned function waits for the end, and returns the error.
func project(ctx context.Context, do func(context.Context) error) (wait func() error) {
	ended := make(chan error, 1)
	go func() { ended <- do(ctx) }()
	return func() error { return <-ended }
}

func position(t *testing.T, p *publishing.Publisher, key es.AggregateID) uint64 {
	t.Helper()
	versions, err := p.Versions(t.Context(), []es.AggregateID{key})
	if err != nil {
		t.Fatal(err)
	}
	return versions[key]
}

// A program that is killed again and again during one batch must get on: it stores positions each second. A clean stop
// repeats nothing.
func TestPositionsAreStoredEachSecond(t *testing.T) {
	readmodeltest.Each(t, func(t *testing.T, db *readmodeltest.Database) {
		j := newJournal(1, 1000)
		b := &testBroker{seen: map[es.AggregateID]uint64{}}
		b.slowly(50 * time.Millisecond)
		p, projector := newPublisher(t, db, b.Publish, j)
		wait := project(t.Context(), func(ctx context.Context) error { _, err := projector.Project(ctx, j.batch()); return err })
		for range 2 {
			before := position(t, p, j.keys[0])
			testenv.Eventually(t, 10*time.Second, func() error {
				if position(t, p, j.keys[0]) == before {
					return errors.New("no position was stored")
				}
				return nil
			})
			// What a kill at this moment would repeat.
			accepted := b.accepted(j.keys[0])
			if stored := position(t, p, j.keys[0]); accepted > stored+40 {
				t.Errorf("event %d is accepted and only %d is stored: more than two seconds", accepted, stored)
			}
		}
		p.Stop()
		if err := wait(); !errors.Is(err, context.Canceled) {
			t.Errorf("a stop ends the batch with %v", err)
		}
		accepted := b.accepted(j.keys[0])
		if stored := position(t, p, j.keys[0]); stored != accepted || accepted == j.each {
			t.Errorf("after a stop %d is stored, %d of %d was accepted", stored, accepted, j.each)
		}
		if p.Outage() != nil {
			t.Errorf("a stop is told as an outage: %v", p.Outage())
		}
		b.slowly(0)
		_, projector = newPublisher(t, db, b.Publish, j) // the program starts again
		until(t, func() error { _, err := projector.Project(t.Context(), j.batch()); return err })
		if err := b.has(j, j.each); err != nil || b.repeats != 0 {
			t.Errorf("%v, %d repeats", err, b.repeats)
		}
	})
}

// An aggregate that is parked stays parked while its events are published, and if the program stops meanwhile.
func TestProgressOfAParkedAggregate(t *testing.T) {
	db, j := readmodeltest.SQLite(t), newJournal(1, 200)
	b := &testBroker{seen: map[es.AggregateID]uint64{}}
	b.fault = func(publishing.Event) error { return publishing.Refused(errors.New("not now")) }
	p, projector := newPublisher(t, db, b.Publish, j)
	if outcome, err := projector.Project(t.Context(), j.batch()); err != nil || outcome.Parked != 1 {
		t.Fatal(outcome, err)
	}
	b.slowly(20 * time.Millisecond)
	p, projector = newPublisher(t, db, b.Publish, j)
	wait := project(t.Context(), func(ctx context.Context) error { _, err := projector.RetryParked(ctx); return err })
	testenv.Eventually(t, 10*time.Second, func() error {
		if position(t, p, j.keys[0]) == 0 {
			return errors.New("no position was stored")
		}
		return nil
	})
	p.Stop()
	_ = wait() // it was stopped
	store, err := rowstore.New(db.DB, "publisher")
	if err != nil {
		t.Fatal(err)
	}
	if parked, err := store.CountParked(t.Context()); parked != 1 || err != nil {
		t.Errorf("%d aggregates are parked, %v", parked, err)
	}
	b.slowly(0)
	_, projector = newPublisher(t, db, b.Publish, j)
	until(t, func() error { _, err := projector.RetryParked(t.Context()); return err })
	if parked, err := store.CountParked(t.Context()); parked != 0 || err != nil || b.has(j, j.each) != nil || b.repeats != 0 {
		t.Errorf("%d aggregates are parked, %v, %v, %d repeats", parked, err, b.has(j, j.each), b.repeats)
	}
}

// Another process may publish more while the broker answers. Its position must not be set back: every event from there
// on would be published again.
func TestAnotherProcessPublishesMeanwhile(t *testing.T) {
	db, j := readmodeltest.SQLite(t), newJournal(1, 3)
	_, other := newPublisher(t, db, (&testBroker{seen: map[es.AggregateID]uint64{}}).Publish, j)
	meanwhile := sync.OnceValue(func() error { _, err := other.Project(t.Context(), j.batch()); return err })
	b := &testBroker{seen: map[es.AggregateID]uint64{}, fault: func(publishing.Event) error { return meanwhile() }}
	p, projector := newPublisher(t, db, b.Publish, j)
	batch := j.batch()
	batch.Records = batch.Records[:2]
	until(t, func() error { _, err := projector.Project(t.Context(), batch); return err })
	if got := position(t, p, j.keys[0]); got != 3 {
		t.Errorf("the position is %d, want 3", got)
	}
}

// Another process may park the aggregate while the broker answers, and skip later events until the retry. The aggregate
// must stay parked: a position without the dead letter would lose those events.
func TestAnotherProcessParksMeanwhile(t *testing.T) {
	db, j := readmodeltest.SQLite(t), newJournal(1, 3)
	refusing := &testBroker{seen: map[es.AggregateID]uint64{}, fault: func(publishing.Event) error { return publishing.Refused(errors.New("not now")) }}
	_, other := newPublisher(t, db, refusing.Publish, j)
	meanwhile := sync.OnceValue(func() error { _, err := other.Project(t.Context(), j.batch()); return err })
	b := &testBroker{seen: map[es.AggregateID]uint64{}, fault: func(publishing.Event) error { return meanwhile() }}
	_, projector := newPublisher(t, db, b.Publish, j)
	batch := j.batch()
	batch.Records = batch.Records[:2]
	until(t, func() error { _, err := projector.Project(t.Context(), batch); return err })
	_, projector = newPublisher(t, db, b.Publish, j)
	until(t, func() error { _, err := projector.RetryParked(t.Context()); return err })
	if err := b.has(j, j.each); err != nil {
		t.Error(err)
	}
}

// growing is a journal that gets its last event later.
type growing struct {
	journal
	done *atomic.Bool
}

func (g growing) now() journal {
	now := g.journal
	if !g.done.Load() {
		now.each--
	}
	return now
}

func (g growing) Head(ctx context.Context, key es.AggregateID) (es.Head, error) {
	return g.now().Head(ctx, key)
}

func (g growing) Entries(ctx context.Context, key es.AggregateID, after, upTo uint64) iter.Seq2[es.Entry, error] {
	return g.now().Entries(ctx, key, after, upTo)
}

// While the events of a parked aggregate are published, another process may get its next event, and leave it to the
// retry. The aggregate must not be released without it.
func TestAnotherProcessHoldsAnEventMeanwhile(t *testing.T) {
	db, j := readmodeltest.SQLite(t), growing{newJournal(1, 4), new(atomic.Bool)}
	b := &testBroker{seen: map[es.AggregateID]uint64{}}
	b.fault = func(publishing.Event) error { return publishing.Refused(errors.New("not now")) }
	_, projector := newPublisher(t, db, b.Publish, j)
	_, other := newPublisher(t, db, b.Publish, j)
	batch := j.batch()
	last := projection.Batch{Records: batch.Records[3:]}
	batch.Records = batch.Records[:3]
	if outcome, err := projector.Project(t.Context(), batch); err != nil || outcome.Parked != 1 {
		t.Fatal(outcome, err)
	}
	b.fault = func(event publishing.Event) error {
		if event.SeqNr < 3 || j.done.Swap(true) {
			return nil
		}
		outcome, err := other.Project(t.Context(), last)
		if err == nil && outcome.Held != 1 {
			t.Errorf("the other process did %+v, want an event held", outcome)
		}
		return err
	}
	if _, err := projector.RetryParked(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := b.has(j.journal, 4); err != nil || b.repeats != 0 {
		t.Errorf("%v, %d repeats", err, b.repeats)
	}
}

// The same of an aggregate that has nothing to publish, in one transaction with another one that has.
func TestAnotherProcessHoldsAnEventBesideOthersThatArePublished(t *testing.T) {
	db, j := readmodeltest.SQLite(t), growing{newJournal(2, 4), new(atomic.Bool)}
	done := j.keys[1]
	b := &testBroker{seen: map[es.AggregateID]uint64{}}
	b.fault = func(publishing.Event) error { return publishing.Refused(errors.New("not now")) }
	p, projector := newPublisher(t, db, b.Publish, j)
	_, other := newPublisher(t, db, b.Publish, j)
	var batch, last projection.Batch
	for _, key := range j.keys {
		batch.Records = append(batch.Records, record(key, 1), record(key, 2), record(key, 3))
	}
	last.Records = append(last.Records, record(done, 4))
	if outcome, err := projector.Project(t.Context(), batch); err != nil || outcome.Parked != 2 {
		t.Fatal(outcome, err)
	}
	letters, err := p.Parked(t.Context(), time.Now().Add(time.Hour), es.AggregateID{}, 10)
	if err != nil {
		t.Fatal(err)
	}
	for _, letter := range letters {
		if letter.Key == done { // what was published before the process ended
			changes := projection.Changes{Positions: map[es.AggregateID]projection.Position{done: {Version: 3, Parked: &letter}}, At: time.Now()}
			err = p.Store.Change(t.Context(), func(ctx context.Context, tx projection.Tx) error {
				_, err := tx.Load(ctx, []es.AggregateID{done})
				return errors.Join(err, tx.Save(ctx, changes))
			})
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	b.seen[done] = 3
	b.fault = func(event publishing.Event) error {
		if event.SeqNr < 3 || j.done.Swap(true) {
			return nil
		}
		_, err := other.Project(t.Context(), last)
		return err
	}
	if _, err := projector.RetryParked(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := b.has(j.journal, 4); err != nil {
		t.Error(err)
	}
}

// hanging is a broker that answers when it is told to.
type hanging struct {
	asked   chan struct{}
	answers chan error
}

func (h hanging) Publish(context.Context, publishing.Event) error {
	h.asked <- struct{}{}
	return <-h.answers
}

// An answer that comes after the stop counts.
func TestABrokerThatAnswersAfterTheStop(t *testing.T) {
	db, j := readmodeltest.SQLite(t), newJournal(1, 9)
	b := hanging{make(chan struct{}), make(chan error)}
	p, projector := newPublisher(t, db, b.Publish, j)
	ctx, stop := context.WithCancel(t.Context())
	wait := project(ctx, func(ctx context.Context) error { _, err := projector.Project(ctx, j.batch()); return err })
	<-b.asked
	b.answers <- nil
	<-b.asked
	p.Stop()
	stop()
	b.answers <- nil
	if err := wait(); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if stored := position(t, p, j.keys[0]); stored != 2 {
		t.Errorf("%d is stored, 2 were accepted", stored)
	}
}

// limited is a broker that reports when its answer is no longer waited for.
type limited struct{ waited time.Duration }

func (l *limited) Publish(ctx context.Context, _ publishing.Event) error {
	until, _ := ctx.Deadline()
	l.waited = time.Until(until)
	panic("Rhubarbwords")
}

// A panic of a broker's client parks the event's aggregate, and its value is not told.
func TestAPanicOfABroker(t *testing.T) {
	db, j := readmodeltest.SQLite(t), newJournal(1, 1)
	b := &limited{}
	p, projector := newPublisher(t, db, b.Publish, j)
	if outcome, err := projector.Project(t.Context(), j.batch()); err != nil || outcome.Parked != 1 {
		t.Fatal(outcome, err)
	}
	letters, err := p.Parked(t.Context(), time.Now().Add(time.Hour), es.AggregateID{}, 10)
	if err != nil || len(letters) != 1 || !strings.Contains(letters[0].Reason, "panic (string)") || strings.Contains(letters[0].Reason, "Rhubarb") {
		t.Errorf("%+v, %v", letters, err)
	}
	if b.waited < 9*time.Second || b.waited > 10*time.Second {
		t.Errorf("an answer is waited for %s, want 10 s", b.waited)
	}
}
