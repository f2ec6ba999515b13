package projectiontest

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"example.com/threads/domain/thread"
	"example.com/threads/usecase"
	"example.com/threads/usecase/projection"
)

// brokenRecord: what the source garbled, the journal still has.
func brokenRecord(t *testing.T, db Database) {
	journal := NewJournal()
	s := begin(t, journal, "")
	s.post("one")
	s.post("two")
	records := s.all()
	records[1] = projection.Record{Key: s.key, SeqNr: 2, Err: Unreadable(records[1].Event)}
	expectOutcome(t, project(t, newProjector(db, journal, newClock()), records...), projection.Outcome{Applied: 1, Filled: 2})
	expectRows(t, db, journal)
}

// unreadableEvent: an event that nobody can read stops its thread, before itself, and no other; mended, the thread
// catches up with all that was held.
func unreadableEvent(t *testing.T, db Database) {
	journal, clock := NewJournal(), newClock()
	bad, good := begin(t, journal, "acme"), begin(t, journal, "acme")
	for i := range 20 {
		bad.post(fmt.Sprint("bad ", i))
		good.post(fmt.Sprint("good ", i))
	}
	journal.Break(bad.key, 10)
	projector := newProjector(db, journal, clock)
	records := append(bad.all(), good.all()...)
	records[9] = projection.Record{Key: bad.key, SeqNr: 10, Err: Unreadable(records[9].Event)}
	expectOutcome(t, project(t, projector, records...), projection.Outcome{Applied: 9 + 21, Parked: 1})
	expectVersion(t, db, bad.key, 9)
	expectVersion(t, db, good.key, 21)

	letter, parked := letterOf(t, db, bad.key)
	event := journal.Of(bad.key)[9]
	if !parked || letter.SeqNr != 10 || letter.EventID != event.EventID || string(letter.Payload) != "{broken\xff" ||
		!strings.Contains(letter.Reason, "unexpected end") || letter.Attempts != 1 || !letter.ParkedAt.Equal(clock.read()) || !letter.RetryAt.After(clock.read()) {
		t.Errorf("the dead letter is %+v", letter)
	}

	bad.post("later")
	good.post("later")
	expectOutcome(t, project(t, projector, append(bad.records(5, 22), good.records(22, 22)...)...), projection.Outcome{Applied: 1, Duplicates: 5, Held: 13})
	expectVersion(t, db, bad.key, 9)
	journal.Break(bad.key, 0)
	outcome, err := projector.RetryParked(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	expectOutcome(t, outcome, projection.Outcome{Filled: 13, Released: 1})
	expectRows(t, db, journal)
}

// unfitEvent: an event that contradicts the rows stops its thread.
func unfitEvent(t *testing.T, db Database) {
	journal := NewJournal()
	bad, good := begin(t, journal, ""), begin(t, journal, "")
	forged := func(seqNr uint64, event thread.Event) {
		journal.Append(usecase.Recorded[thread.Event]{
			Envelope: usecase.Envelope{EventID: newID[thread.Event]().String(), AggregateType: bad.key.Type, AggregateID: bad.key.ID, SeqNr: seqNr, OccurredAt: bad.at},
			Event:    event,
		})
	}
	forged(2, thread.Renamed{Name: bad.name("fits")})
	forged(3, thread.MessageDeleted{Message: newID[thread.Message]()})
	records := append(good.all(), recordOf(journal.Of(bad.key)[2]), recordOf(journal.Of(bad.key)[1]), recordOf(journal.Of(bad.key)[0]))
	expectOutcome(t, project(t, newProjector(db, journal, newClock()), records...), projection.Outcome{Applied: 3, Parked: 1})
	expectVersion(t, db, bad.key, 2)
	if letter, parked := letterOf(t, db, bad.key); !parked || letter.SeqNr != 3 || !strings.Contains(letter.Reason, "is not in the thread") {
		t.Errorf("the dead letter is %+v", letter)
	}
}

// silentJournal: where the journal does not answer for a thread with a gap, that thread waits and no other.
func silentJournal(t *testing.T, db Database) {
	journal, clock := NewJournal(), newClock()
	silent, good := begin(t, journal, ""), begin(t, journal, "")
	silent.post("lost by the source")
	silent.post("told")
	journal.Fail(silent.key, true)
	projector := newProjector(db, journal, clock)
	records := append(silent.records(3, 3), good.all()...)
	expectOutcome(t, project(t, projector, records...), projection.Outcome{Applied: 1, Parked: 1})
	expectVersion(t, db, good.key, 1)
	if letter, parked := letterOf(t, db, silent.key); !parked || letter.SeqNr != 1 || !strings.Contains(letter.Reason, "no answer") {
		t.Errorf("the dead letter is %+v", letter)
	}
	if outcome, err := projector.RetryParked(t.Context()); err != nil || outcome.Parked != 1 {
		t.Errorf("%+v, %v", outcome, err)
	}
	journal.Fail(silent.key, false)
	clock.move(hour)
	if outcome, err := projector.RetryParked(t.Context()); err != nil || outcome.Released != 1 {
		t.Errorf("%+v, %v", outcome, err)
	}
	expectRows(t, db, journal)
}

// recordOfNoEvent: an event that the journal does not have does not get into the rows, and the thread goes on.
func recordOfNoEvent(t *testing.T, db Database) {
	journal, clock := NewJournal(), newClock()
	s := begin(t, journal, "")
	projector := newProjector(db, journal, clock)
	forged := s.all()[0]
	forged.SeqNr, forged.Event.SeqNr, forged.Event.Event = 5, 5, thread.Renamed{Name: s.name("forged")}
	expectOutcome(t, project(t, projector, append(s.all(), forged)...), projection.Outcome{Applied: 1, Parked: 1})
	if letter, parked := letterOf(t, db, s.key); !parked || !strings.Contains(letter.Reason, "the journal ends with event 1") {
		t.Errorf("the dead letter is %+v", letter)
	}
	if outcome, err := projector.RetryParked(t.Context()); err != nil || outcome.Released != 1 {
		t.Errorf("%+v, %v", outcome, err)
	}
	s.post("true")
	project(t, projector, s.records(2, 2)...)
	expectRows(t, db, journal)
}

func recordOfNoThread(t *testing.T, db Database) {
	journal := NewJournal()
	s := begin(t, journal, "")
	broken := projection.Record{Err: &projection.UnreadableError{Cause: errors.New("no key")}}
	expectOutcome(t, project(t, newProjector(db, journal, newClock()), append(s.all(), broken)...), projection.Outcome{Applied: 1, Unusable: 1})
	expectRows(t, db, journal)
}

// refusedData: when the database does not take one thread's data, the rest of the batch gets there, checkpoint included.
func refusedData(t *testing.T, db Database) {
	journal := NewJournal()
	var records []projection.Record
	var stories []*story
	for i := range 5 {
		s := begin(t, journal, "acme")
		for j := range 6 {
			s.post(fmt.Sprintf("text %d %d", i, j))
		}
		stories = append(stories, s)
		records = append(records, s.all()...)
	}
	db.Refuse(t, "text 3 4")
	projector := newProjector(db, journal, newClock())
	checkpoint := projection.Checkpoint{Source: "s", Shard: "0", Position: "9"}
	outcome, err := projector.Project(t.Context(), projection.Batch{Records: records, Checkpoint: checkpoint})
	if err != nil {
		t.Fatal(err)
	}
	expectOutcome(t, outcome, projection.Outcome{Applied: 4*7 + 5, Held: outcome.Held, Parked: 1})
	for i, s := range stories {
		if i != 3 {
			expectVersion(t, db, s.key, 7)
		}
	}
	expectVersion(t, db, stories[3].key, 5)
	if letter, parked := letterOf(t, db, stories[3].key); !parked || letter.SeqNr != 6 || letter.EventID != journal.Of(stories[3].key)[5].EventID {
		t.Errorf("the dead letter is %+v", letter)
	}
	if stored, err := db.Checkpoints(t.Context(), "s"); err != nil || len(stored) != 1 {
		t.Errorf("the checkpoints are %v, %v", stored, err)
	}

	if outcome, err := projector.RetryParked(t.Context()); err != nil || outcome.Parked != 1 || outcome.Released != 0 {
		t.Errorf("refused again: %+v, %v", outcome, err)
	}
	if letter, _ := letterOf(t, db, stories[3].key); letter.Attempts != 2 || letter.SeqNr != 6 {
		t.Errorf("the dead letter is %+v", letter)
	}
	db.Refuse(t, "")
	if outcome, err := newProjector(db, journal, newClock()).RetryParked(t.Context()); err != nil || outcome.Released != 1 {
		t.Errorf("%+v, %v", outcome, err)
	}
	expectRows(t, db, journal)
}
