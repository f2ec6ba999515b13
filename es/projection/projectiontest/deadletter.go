package projectiontest

import (
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"example.com/threads/es/estest/faulty"
	"example.com/threads/es/projection"
)

// brokenRecord: a corrupt record's event is read from the journal.
func brokenRecord(t *testing.T, db Database) {
	journal := NewJournal()
	s := begin(t, journal, "")
	s.write("one")
	s.write("two")
	records := s.all()
	records[1] = faulty.Unreadable(records[1])
	expectOutcome(t, project(t, newProjector(db, journal, newClock()), records...), projection.Outcome{Applied: 1, Filled: 2, Unreadable: 1})
	expectRows(t, db, journal)
}

// unreadableEvent: an unreadable event parks its ledger before this event, and no other; once readable, the ledger
// catches up.
func unreadableEvent(t *testing.T, db Database) {
	journal, clock := NewJournal(), newClock()
	bad, good := begin(t, journal, "acme"), begin(t, journal, "acme")
	for i := range 20 {
		bad.write(fmt.Sprint("bad ", i))
		good.write(fmt.Sprint("good ", i))
	}
	journal.Break(bad.key, 10)
	projector := newProjector(db, journal, clock)
	records := append(bad.all(), good.all()...)
	records[9] = journal.Read(records[9])
	expectOutcome(t, project(t, projector, records...), projection.Outcome{Applied: 9 + 21, Parked: 1, Unreadable: 1})
	expectVersion(t, db, bad.key, 9)
	expectVersion(t, db, good.key, 21)

	letter, parked := letterOf(t, db, bad.key)
	event := journal.Of(bad.key)[9]
	if !parked || letter.SeqNr != 10 || letter.EventID != event.EventID ||
		!strings.Contains(letter.Reason, "unexpected end") || letter.Attempts != 1 || !letter.ParkedAt.Equal(clock.read()) || !letter.RetryAt.After(clock.read()) {
		t.Errorf("the dead letter is %+v", letter)
	}

	bad.write("later")
	good.write("later")
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

// unfitEvent: an event that contradicts the rows parks its ledger.
func unfitEvent(t *testing.T, db Database) {
	journal := NewJournal()
	bad, good := begin(t, journal, ""), begin(t, journal, "")
	bad.append(entry{Text: "fits", Edits: 1})
	bad.append(entry{Text: "edits what was never written", Edits: 9})
	records := append(good.all(), recordOf(journal.Of(bad.key)[2]), recordOf(journal.Of(bad.key)[1]), recordOf(journal.Of(bad.key)[0]))
	expectOutcome(t, project(t, newProjector(db, journal, newClock()), records...), projection.Outcome{Applied: 3, Parked: 1})
	expectVersion(t, db, bad.key, 2)
	if letter, parked := letterOf(t, db, bad.key); !parked || letter.SeqNr != 3 || !strings.Contains(letter.Reason, "is not in the ledger") {
		t.Errorf("the dead letter is %+v", letter)
	}
}

// panickingEvent: an event that makes a handler panic parks its ledger, and no other.
func panickingEvent(t *testing.T, db Database) {
	for _, text := range []string{panicsInDecode, panicsInApply} {
		journal := NewJournal()
		bad, good := begin(t, journal, ""), begin(t, journal, "")
		bad.write(text)
		bad.write("later")
		good.write("fine")
		project(t, newProjector(db, journal, newClock()), append(good.records(1, 1), append(bad.all(), good.records(2, 2)...)...)...)
		expectVersion(t, db, bad.key, 1)
		expectVersion(t, db, good.key, 2)
		if letter, parked := letterOf(t, db, bad.key); !parked || letter.SeqNr != 2 || !strings.Contains(letter.Reason, "panic: "+text) {
			t.Errorf("the dead letter is %+v", letter)
		}
	}
}

// silentJournal: if the journal does not answer for a ledger with a gap, only that ledger waits.
func silentJournal(t *testing.T, db Database) {
	journal, clock := NewJournal(), newClock()
	silent, good := begin(t, journal, ""), begin(t, journal, "")
	silent.write("lost by the source")
	silent.write("told")
	journal.Fail(silent.key, true)
	projector := newProjector(db, journal, clock)
	records := append(silent.records(3, 3), good.all()...)
	expectOutcome(t, project(t, projector, records...), projection.Outcome{Applied: 1, Parked: 1})
	expectVersion(t, db, good.key, 1)
	if letter, parked := letterOf(t, db, silent.key); !parked || letter.SeqNr != 3 || !strings.Contains(letter.Reason, "no answer") {
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

// contradictoryHead: if the source delivered an event after the head's version, the ledger is parked until the head is
// repaired: it is not released in between, and reported once.
func contradictoryHead(t *testing.T, db Database) {
	for name, head := range map[string]int{"behind": 2, "missing": 0} {
		journal, clock := NewJournal(), newClock()
		s := begin(t, journal, "")
		s.write("second")
		s.write("third")
		journal.SetHead(s.key, head)
		var log strings.Builder
		projector := newProjectorOf(db, journal, projection.Options{Now: clock.read, Logger: slog.New(slog.NewTextHandler(&log, nil))}, ledgerType)
		project(t, projector, append(s.records(1, min(uint64(head), 1)), s.records(3, 3)...)...)
		for attempt := range 5 {
			letter, parked := letterOf(t, db, s.key)
			if !parked || letter.SeqNr != 3 || !strings.Contains(letter.Reason, fmt.Sprintf("ends with event %d", head)) || !strings.Contains(letter.Reason, "mend the head") {
				t.Fatalf("%s: before attempt %d the dead letter is %+v", name, attempt, letter)
			}
			clock.move(hour)
			if outcome, err := projector.RetryParked(t.Context()); err != nil || outcome.Released != 0 {
				t.Errorf("%s: %+v, %v", name, outcome, err)
			}
		}
		if told := strings.Count(log.String(), "is parked"); told != 1 {
			t.Errorf("%s: logged %d times:\n%s", name, told, log.String())
		}
		journal.SetHead(s.key)
		clock.move(hour)
		if outcome, err := projector.RetryParked(t.Context()); err != nil || outcome.Released != 1 {
			t.Errorf("%s, after the repair: %+v, %v", name, outcome, err)
		}
		expectRows(t, db, journal)
	}
}

// refusedData: if the database refuses one ledger's data, the rest of the batch is stored, checkpoint included.
func refusedData(t *testing.T, db Database) {
	journal := NewJournal()
	var records []projection.Record
	var stories []*story
	for i := range 5 {
		s := begin(t, journal, "acme")
		for j := range 6 {
			s.write(fmt.Sprintf("text %d %d", i, j))
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
