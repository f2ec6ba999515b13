package projectiontest

import (
	"context"
	"fmt"
	"iter"
	mathrand "math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"example.com/threads/es"
	"example.com/threads/es/projection"
)

// chunkedFill: a gap of any size needs memory for FillEvents events, and one transaction for each FillEvents of them.
func chunkedFill(t *testing.T, db Database) {
	journal := NewJournal()
	s := begin(t, journal, "")
	for i := range 700 {
		s.write(fmt.Sprint("text ", i))
	}
	commits := 0
	observed := &watched{Database: db, committed: func() { commits++ }}
	projector := newProjectorOf(observed, journal, projection.Options{FillEvents: 50}, ledgerType)
	expectOutcome(t, project(t, projector, s.records(701, 701)...), projection.Outcome{Filled: 701})
	expectRows(t, db, journal)
	if commits != 1+15 || journal.Longest() > 50 {
		t.Errorf("%d transactions, %d events at once", commits, journal.Longest())
	}

	const gaps = 60
	for range gaps {
		other := begin(t, journal, "")
		for i := range 19 {
			other.write(fmt.Sprint("text ", i))
		}
	}
	var reads atomic.Int64
	journal.OnRead(func(es.AggregateID) { reads.Add(1) })
	outcome, err := projector.Repair(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	expectOutcome(t, outcome, projection.Outcome{Filled: 20 * gaps, Repairs: 1})
	expectRows(t, db, journal)
	if n := reads.Load(); n > 5*gaps {
		t.Errorf("%d reads for %d gaps", n, gaps)
	}
}

// meanwhile runs something when positions are compared.
type meanwhile struct {
	Database
	do func()
}

func (m meanwhile) Versions(ctx context.Context, keys []es.AggregateID) (map[es.AggregateID]uint64, error) {
	m.do()
	return m.Database.Versions(ctx, keys)
}

// repairBesideACreation: a ledger that comes while others are compared is no reason to look at each of them.
func repairBesideACreation(t *testing.T, db Database) {
	journal := NewJournal()
	projector := newProjector(db, journal, newClock())
	for range 20 {
		project(t, projector, begin(t, journal, "").all()...)
	}
	var reads atomic.Int64
	var once sync.Once
	created := meanwhile{db, func() {
		once.Do(func() { project(t, projector, begin(t, journal, "").all()...) })
	}}
	journal.OnRead(func(es.AggregateID) { reads.Add(1) })
	if _, err := newProjector(created, journal, newClock()).Repair(t.Context()); err != nil || reads.Load() > 0 {
		t.Errorf("%d reads of the journal, %v", reads.Load(), err)
	}
	expectRows(t, db, journal)
}

// repairWithRowsAhead: rows without a head are found beside a ledger that has none yet.
func repairWithRowsAhead(t *testing.T, db Database) {
	journal := NewJournal()
	projector := newProjector(db, journal, newClock())
	gone, stays := begin(t, journal, ""), begin(t, journal, "")
	project(t, projector, append(gone.all(), stays.all()...)...)
	journal.remove(gone.key)
	begin(t, journal, "")
	if _, err := projector.Repair(t.Context()); err != nil || projector.Drift().Ahead == 0 {
		t.Errorf("the rows that are ahead are not found: %+v, %v", projector.Drift(), err)
	}
}

// repair: a source that delivers nothing, and a read model that lacks some events.
func repair(t *testing.T, db Database) {
	journal, clock := NewJournal(), newClock()
	random := mathrand.New(mathrand.NewPCG(3, 3))
	told := history(t, journal, random, 30, 500)
	projector := newProjector(db, journal, clock)
	project(t, projector, told[:200]...)
	bad := begin(t, journal, "acme")
	bad.write("unreadable")
	journal.Break(bad.key, 2)

	outcome, err := projector.Repair(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	expectOutcome(t, outcome, projection.Outcome{Filled: len(told) - 200 + 1, Parked: 1, Repairs: 1})
	journal.Break(bad.key, 0)
	if _, err := projector.RetryParked(t.Context()); err != nil {
		t.Fatal(err)
	}
	expectRows(t, db, journal)
	if outcome, err := projector.Repair(t.Context()); err != nil || outcome != (projection.Outcome{Repairs: 1}) {
		t.Errorf("again: %+v, %v", outcome, err)
	}
}

func repairBesideTheSource(t *testing.T, db Database) {
	journal, clock := NewJournal(), newClock()
	told := history(t, journal, mathrand.New(mathrand.NewPCG(4, 4)), 20, 600)
	var wait sync.WaitGroup
	wait.Go(func() {
		if _, err := newProjector(db, journal, clock).Repair(t.Context()); err != nil {
			t.Errorf("repair: %v", err)
		}
	})
	projector := newProjector(db, journal, clock)
	for batch := range slices.Chunk(told, 50) {
		project(t, projector, batch...)
	}
	wait.Wait()
	expectRows(t, db, journal)
}

// staleHeads lists the heads as they were before the last events.
type staleHeads struct{ *Journal }

func (s staleHeads) Heads(ctx context.Context, aggregateType string) iter.Seq2[es.StoredAggregate, error] {
	return func(yield func(es.StoredAggregate, error) bool) {
		for head, err := range s.Journal.Heads(ctx, aggregateType) {
			head.Version--
			if !yield(head, err) {
				return
			}
		}
	}
}

// repairWithStaleHeads: events that are projected after the heads were listed do not make the rows ahead of the
// journal; events that the journal has lost do.
func repairWithStaleHeads(t *testing.T, db Database) {
	journal := NewJournal()
	s := begin(t, journal, "")
	s.write("second")
	project(t, newProjector(db, journal, newClock()), s.all()...)
	restored := NewJournal()
	restored.Append(journal.Of(s.key)[0])
	for want, journal := range []es.Journal{staleHeads{journal}, restored} {
		projector := projection.New(db, journal, projection.Options{}, ledgers{ledgerType, db})
		if _, err := projector.Repair(t.Context()); err != nil {
			t.Fatal(err)
		}
		if found := projector.Drift(); found.Ahead != want {
			t.Errorf("%T: %d aggregates are ahead, want %d", journal, found.Ahead, want)
		}
	}
}

// notify: every commit reports exactly the changed ledgers and their versions.
func notify(t *testing.T, db Database) {
	journal := NewJournal()
	near, far := begin(t, journal, ""), begin(t, journal, "acme")
	far.write("lost")
	far.write("told")
	var told []projection.AtVersion
	projector := newProjectorOf(db, journal, projection.Options{Notify: func(changed []projection.AtVersion) {
		for _, head := range changed {
			expectVersion(t, db, head.Key, head.Version)
		}
		told = append(told, changed...)
	}}, ledgerType)
	project(t, projector, append(near.all(), far.records(3, 3)...)...)
	if want := []projection.AtVersion{{Key: near.key, Version: 1}, {Key: far.key, Version: 3}}; !slices.Equal(told, want) {
		t.Errorf("notified of %v instead of %v", told, want)
	}
	told = nil
	project(t, projector, append(near.all(), far.all()...)...)
	if len(told) > 0 {
		t.Errorf("duplicates led to a notification: %v", told)
	}
}

// loss: a repair brings the events that a source reported lost, wherever the program crashes; afterwards no repair is
// due.
func loss(t *testing.T, db Database) {
	journal, clock := NewJournal(), newClock()
	first := newProjector(db, journal, clock)
	if err := first.Begin(t.Context(), true); err != nil || !first.RepairSince().IsZero() {
		t.Fatalf("a source that delivers everything needs a repair: %v", err)
	}
	s := begin(t, journal, "")
	if err := first.OweRepair(t.Context()); err != nil || first.RepairSince().IsZero() {
		t.Fatal("no repair is due", err)
	}

	again := newProjector(db, journal, clock) // the first one crashed
	if err := again.Begin(t.Context(), false); err != nil || again.RepairSince().IsZero() {
		t.Fatal("no repair is due after a restart", err)
	}
	runUntil(t, again, func() bool { return again.RepairSince().IsZero() })
	expectRows(t, db, journal)
	expectVersion(t, db, s.key, 1)

	last := newProjector(db, journal, clock)
	if err := last.Begin(t.Context(), false); err != nil || !last.RepairSince().IsZero() {
		t.Errorf("a repair is due after one: %v", err)
	}
}

// runUntil runs a projector until done.
func runUntil(t *testing.T, projector *projection.Projector, done func() bool) {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), 20*time.Second)
	defer stop()
	var running sync.WaitGroup
	running.Go(func() { projector.Run(ctx) })
	for !done() && ctx.Err() == nil {
		<-time.After(time.Millisecond)
	}
	stop()
	running.Wait()
	if !done() {
		t.Error("not done in time")
	}
}
