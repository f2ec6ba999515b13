package projectiontest

import (
	"sync/atomic"
	"testing"
	"time"

	"example.com/threads/es"
	"example.com/threads/es/projection"
)

const hour = time.Hour

// retryInTime: the first retry is at once after the start, later ones after pauses that grow to five minutes.
func retryInTime(t *testing.T, db Database) {
	journal, clock := NewJournal(), newClock()
	s := begin(t, journal, "")
	journal.Break(s.key, 1)
	records := []projection.Record{journal.Read(s.all()[0])}
	project(t, newProjector(db, journal, clock), records...)
	parkedAt := clock.read()

	projector := newProjector(db, journal, clock)
	attempts := func() int {
		t.Helper()
		if _, err := projector.RetryParked(t.Context()); err != nil {
			t.Fatal(err)
		}
		letter, _ := letterOf(t, db, s.key)
		if !letter.ParkedAt.Equal(parkedAt) {
			t.Errorf("parked at %s", letter.ParkedAt)
		}
		return letter.Attempts
	}
	if n := attempts(); n != 2 {
		t.Errorf("%d attempts after the start", n)
	}
	if n := attempts(); n != 2 {
		t.Errorf("%d attempts, the last without its pause", n)
	}
	longest := time.Duration(0)
	for want := 3; want < 20; want++ {
		letter, _ := letterOf(t, db, s.key)
		pause := letter.RetryAt.Sub(clock.read())
		if pause < longest/2 || pause <= 0 || pause > 5*time.Minute {
			t.Errorf("a pause of %s after one of %s", pause, longest)
		}
		longest = max(longest, pause)
		clock.move(pause)
		if n := attempts(); n != want {
			t.Errorf("%d attempts instead of %d", n, want)
		}
	}
	if longest < 2*time.Minute {
		t.Errorf("the pauses grow to %s", longest)
	}
	// The clock was ahead when that was stored, and is set right: the ledger does not wait until then.
	letter, _ := letterOf(t, db, s.key)
	clock.move(-30 * 24 * hour)
	if n := attempts(); n != letter.Attempts+1 {
		t.Errorf("%d attempts after %d, once the clock was set right", n, letter.Attempts)
	}
	journal.Break(s.key, 0)
	clock.move(hour)
	if outcome, err := projector.RetryParked(t.Context()); err != nil || outcome.Released != 1 {
		t.Errorf("%+v, %v", outcome, err)
	}
	expectRows(t, db, journal)
}

// retryBesideABusyOne: a parked ledger does not wait for another one that gets an event whenever its journal is read.
func retryBesideABusyOne(t *testing.T, db Database) {
	journal, clock := NewJournal(), newClock()
	calm, busy := begin(t, journal, ""), begin(t, journal, "")
	for _, s := range []*story{calm, busy} {
		journal.Break(s.key, 1)
		project(t, newProjector(db, journal, clock), journal.Read(s.all()[0]))
		journal.Break(s.key, 0)
	}
	looks, written := 0, 0
	journal.OnRead(func(key es.AggregateID) {
		if key == calm.key {
			looks++
		} else if written < 30 {
			written++
			busy.write("more")
		}
	})
	if outcome, err := newProjector(db, journal, clock).RetryParked(t.Context()); err != nil || outcome.Released != 2 || looks > 4 {
		t.Errorf("%+v, %v; the journal of the calm ledger was read %d times", outcome, err, looks)
	}
	expectRows(t, db, journal)
}

// retryBesideTheSource: events that the source delivers while a parked ledger catches up are in the rows afterwards,
// whether they come just before or just after the retry's last read, and whether or not the ledger has a row by then.
func retryBesideTheSource(t *testing.T, db Database) {
	for name, c := range map[string]struct {
		unreadable uint64 // 1: the ledger has no row
		before     int    // the read of the journal after which the source delivers an event that is held; 0: none
		lastLook   int    // the read in the transaction that releases the ledger: it finds nothing more
	}{
		"row":    {unreadable: 2, before: 1, lastLook: 4},
		"no row": {unreadable: 1, before: 0, lastLook: 3},
	} {
		journal, clock := NewJournal(), newClock()
		s := begin(t, journal, "")
		s.write("second")
		journal.Break(s.key, c.unreadable)
		projector, other := newProjector(db, journal, clock), newProjector(db, journal, clock)
		records := s.all()
		records[c.unreadable-1] = journal.Read(records[c.unreadable-1])
		project(t, projector, records...)
		journal.Break(s.key, 0)

		var reads atomic.Int64 // the other projector reads, too
		beside := make(chan error, 1)
		journal.OnRead(func(es.AggregateID) {
			switch int(reads.Add(1)) {
			case c.before:
				s.write("before the last look")
				if outcome := project(t, other, s.records(3, 3)...); outcome.Held != 1 {
					t.Errorf("%s: not held: %+v", name, outcome)
				}
			case c.lastLook:
				s.write("after the last look")
				last := s.records(s.version(), s.version())
				go func() {
					_, err := other.Project(t.Context(), projection.Batch{Records: last})
					beside <- err
				}()
				select {
				case err := <-beside:
					t.Errorf("%s: the source did not wait for the retry", name)
					beside <- err
				case <-time.After(100 * time.Millisecond):
				}
			}
		})
		outcome, err := projector.RetryParked(t.Context())
		if err != nil || outcome.Released != 1 || int(reads.Load()) < c.lastLook {
			t.Fatalf("%s: %+v, %v after %d reads", name, outcome, err, reads.Load())
		}
		if err := <-beside; err != nil {
			t.Fatal(err)
		}
		expectRows(t, db, journal)
	}
}

// parkedHalfway: a parked ledger that catches up in several transactions stays parked in between: events from a source
// wait.
func parkedHalfway(t *testing.T, db Database) {
	journal, clock := NewJournal(), newClock()
	s := begin(t, journal, "")
	for range 30 {
		s.write("one of many")
	}
	journal.Break(s.key, 1)
	projector, other := newProjector(db, journal, clock), newProjector(db, journal, clock)
	project(t, projector, journal.Read(s.all()[0]))
	journal.Break(s.key, 0)

	held := 0
	journal.OnRead(func(es.AggregateID) {
		if at := versionOf(t.Context(), t, db, s.key); at > 0 && at < 31 && held == 0 {
			held = project(t, other, s.records(at+1, at+1)...).Held
		}
	})
	if outcome, err := projector.RetryParked(t.Context()); err != nil || outcome.Released != 1 || held != 1 {
		t.Errorf("%+v, %v; %d held", outcome, err, held)
	}
	expectRows(t, db, journal)
}
