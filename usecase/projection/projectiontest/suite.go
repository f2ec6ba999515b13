package projectiontest

import (
	"errors"
	"log/slog"
	"slices"
	"testing"
	"time"

	"example.com/threads/usecase"
	"example.com/threads/usecase/projection"
)

// Database is a fresh read model, and what tests do to it.
type Database interface {
	projection.ReadModel
	projection.Checkpoints
	// Refuse makes the database refuse every message with this text, for reasons of its own; "" none any more.
	Refuse(t *testing.T, text string)
}

// Run puts a read model through the contract. open gives a fresh one for every test.
func Run(t *testing.T, open func(t *testing.T) Database) {
	for name, test := range map[string]func(*testing.T, Database){
		"in order":                          inOrder,
		"any delivery":                      anyDelivery,
		"checkpoints":                       checkpoints,
		"checkpoint with the last rows":     checkpointWithTheLastRows,
		"nothing happened":                  nothingHappened,
		"two at once":                       twoAtOnce,
		"first insert race":                 firstInsertRace,
		"lock":                              lock,
		"chunked fill":                      chunkedFill,
		"batch of many texts":               batchOfManyTexts,
		"broken record, readable journal":   brokenRecord,
		"unreadable event parks its thread": unreadableEvent,
		"event that does not fit":           unfitEvent,
		"journal that does not answer":      silentJournal,
		"record of an event that is not":    recordOfNoEvent,
		"record of no thread":               recordOfNoThread,
		"refused data":                      refusedData,
		"retry in time":                     retryInTime,
		"retry beside the source":           retryBesideTheSource,
		"repair":                            repair,
		"repair beside the source":          repairBesideTheSource,
		"notify":                            notify,
	} {
		t.Run(name, func(t *testing.T) { test(t, open(t)) })
	}
}

// clock is a clock that tests move.
type clock struct{ now time.Time }

func newClock() *clock { return &clock{now: time.UnixMicro(1750000000000000).UTC()} }

func (c *clock) read() time.Time { return c.now }

func (c *clock) move(by time.Duration) { c.now = c.now.Add(by) }

func newProjector(readModel projection.ReadModel, journal *Journal, clock *clock) *projection.Projector {
	return projection.New(readModel, journal, projection.Options{Now: clock.read, Logger: slog.New(slog.DiscardHandler), FillEvents: 7, Attempts: 100})
}

// project projects records and fails the test where that fails.
func project(t *testing.T, projector *projection.Projector, records ...projection.Record) projection.Outcome {
	t.Helper()
	outcome, err := projector.Project(t.Context(), projection.Batch{Records: records})
	if err != nil {
		t.Fatalf("project: %v", err)
	}
	return outcome
}

func expectOutcome(t *testing.T, got, want projection.Outcome) {
	t.Helper()
	if got != want {
		t.Errorf("the outcome is %+v and should be %+v", got, want)
	}
}

func expectRows(t *testing.T, db projection.ReadModel, journal *Journal) {
	t.Helper()
	if err := difference(t.Context(), db, journal); err != nil {
		t.Error(err)
	}
}

func expectVersion(t *testing.T, db projection.ReadModel, key usecase.Key, want uint64) {
	t.Helper()
	if got := versionOf(t.Context(), t, db, key); got != want {
		t.Errorf("the rows are at version %d and should be at %d", got, want)
	}
}

// letterOf is the dead letter of a thread, whenever it is due.
func letterOf(t *testing.T, db projection.ReadModel, key usecase.Key) (projection.DeadLetter, bool) {
	t.Helper()
	letters, err := db.Parked(t.Context(), time.UnixMicro(1<<60), 100)
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(letters, func(letter projection.DeadLetter) bool { return letter.Key == key })
	if i < 0 {
		return projection.DeadLetter{}, false
	}
	return letters[i], true
}

var errCrash = errors.New("crash")
