package projectiontest

import (
	"fmt"
	mathrand "math/rand/v2"
	"slices"
	"sync"
	"testing"

	"example.com/threads/usecase/projection"
)

// chunkedFill: a gap of any size takes memory for FillEvents events, and one transaction for as many.
func chunkedFill(t *testing.T, db Database) {
	journal := NewJournal()
	s := begin(t, journal, "")
	for i := range 2000 {
		s.post(fmt.Sprint("text ", i))
	}
	commits := 0
	observed := &watched{Database: db, committed: func() { commits++ }}
	projector := projection.New(observed, journal, projection.Options{FillEvents: 150})
	expectOutcome(t, project(t, projector, s.records(2001, 2001)...), projection.Outcome{Filled: 2001})
	expectRows(t, db, journal)
	if commits != 1+14 || journal.Longest() > 150 {
		t.Errorf("%d transactions, %d events at once", commits, journal.Longest())
	}
}

// repair: a source that tells nothing, and a read model that has some and lacks some.
func repair(t *testing.T, db Database) {
	journal, clock := NewJournal(), newClock()
	random := mathrand.New(mathrand.NewPCG(3, 3))
	told := history(t, journal, random, 30, 500)
	projector := newProjector(db, journal, clock)
	project(t, projector, told[:200]...)
	broken := begin(t, journal, "acme")
	broken.post("unreadable")
	journal.Break(broken.key, 2)

	outcome, err := projector.Repair(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	expectOutcome(t, outcome, projection.Outcome{Filled: len(told) - 200 + 1, Parked: 1})
	journal.Break(broken.key, 0)
	if _, err := projector.RetryParked(t.Context()); err != nil {
		t.Fatal(err)
	}
	expectRows(t, db, journal)
	if outcome, err := projector.Repair(t.Context()); err != nil || outcome != (projection.Outcome{}) {
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

// notify: every commit tells the threads that have changed, and their versions, and no others.
func notify(t *testing.T, db Database) {
	journal := NewJournal()
	near, far := begin(t, journal, ""), begin(t, journal, "acme")
	far.post("lost")
	far.post("told")
	var told []projection.Head
	projector := projection.New(db, journal, projection.Options{Notify: func(changed []projection.Head) {
		for _, head := range changed {
			expectVersion(t, db, head.Key, head.Version)
		}
		told = append(told, changed...)
	}})
	project(t, projector, append(near.all(), far.records(3, 3)...)...)
	if want := []projection.Head{{Key: near.key, Version: 1}, {Key: far.key, Version: 3}}; !slices.Equal(told, want) {
		t.Errorf("told of %v instead of %v", told, want)
	}
	told = nil
	project(t, projector, append(near.all(), far.all()...)...)
	if len(told) > 0 {
		t.Errorf("duplicates were told of: %v", told)
	}
}
