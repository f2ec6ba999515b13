package projectiontest

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"example.com/threads/es"
	"example.com/threads/es/projection"
)

// Database is a new store of a projection with its rows, and the faults that tests inject.
type Database interface {
	projection.Store
	projection.Checkpoints
	Lines
	// Refuse makes the database refuse every line with this text; "" ends that.
	Refuse(t *testing.T, text string)
}

// Run tests a store against the contract. open returns a new one for every test.
func Run(t *testing.T, open func(t *testing.T) Database) {
	for name, test := range map[string]func(*testing.T, Database){
		"in order":                          inOrder,
		"any delivery":                      anyDelivery,
		"checkpoints":                       checkpoints,
		"checkpoint with the last rows":     checkpointWithTheLastRows,
		"nothing happened":                  nothingHappened,
		"two at once":                       twoAtOnce,
		"overtaken at the first insert":     overtakenAtTheFirstInsert,
		"lock":                              lock,
		"view":                              view,
		"chunked fill":                      chunkedFill,
		"batch of many texts":               batchOfManyTexts,
		"broken record, readable journal":   brokenRecord,
		"unreadable event parks its ledger": unreadableEvent,
		"event that does not fit":           unfitEvent,
		"event that makes a handler panic":  panickingEvent,
		"journal that does not answer":      silentJournal,
		"head that contradicts the journal": contradictoryHead,
		"type without a handler":            unregisteredType,
		"type that is ignored":              ignoredType,
		"type whose events are gone":        goneType,
		"loss":                              loss,
		"refused data":                      refusedData,
		"retry in time":                     retryInTime,
		"retry beside the source":           retryBesideTheSource,
		"retry beside a busy one":           retryBesideABusyOne,
		"parked halfway":                    parkedHalfway,
		"repair":                            repair,
		"tenants":                           tenants,
		"repair beside the source":          repairBesideTheSource,
		"repair beside a creation":          repairBesideACreation,
		"repair with rows ahead":            repairWithRowsAhead,
		"repair with stale heads":           repairWithStaleHeads,
		"notify":                            notify,
		"traces":                            traces,
	} {
		t.Run(name, func(t *testing.T) { test(t, open(t)) })
	}
}

// testClock is a clock that tests move.
type testClock struct{ now time.Time }

func newClock() *testClock { return &testClock{now: time.UnixMicro(1750000000000000).UTC()} }

func (c *testClock) read() time.Time { return c.now }

func (c *testClock) move(by time.Duration) { c.now = c.now.Add(by) }

func newProjector(db Database, journal *Journal, clock *testClock) *projection.Projector {
	return newProjectorOf(db, journal, projection.Options{Now: clock.read, FillEvents: 7, Attempts: 100}, ledgerType)
}

// newProjectorOf makes a projector that knows these aggregate types.
func newProjectorOf(db Database, journal *Journal, options projection.Options, types ...string) *projection.Projector {
	var handlers []projection.Handler
	for _, name := range types {
		handlers = append(handlers, ledgers{name, db})
	}
	return projection.New(db, journal, options, handlers...)
}

// project projects records and fails the test on an error.
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

func expectRows(t *testing.T, db Database, journal *Journal) {
	t.Helper()
	if err := difference(t.Context(), db, journal); err != nil {
		t.Error(err)
	}
}

func expectVersion(t *testing.T, db Database, key es.AggregateID, want uint64) {
	t.Helper()
	if got := versionOf(t.Context(), t, db, key); got != want {
		t.Errorf("the rows are at version %d and should be at %d", got, want)
	}
}

// letterOf returns the dead letter of a ledger, due or not.
func letterOf(t *testing.T, db Database, key es.AggregateID) (projection.DeadLetter, bool) {
	t.Helper()
	letters, err := db.Parked(t.Context(), time.UnixMicro(1<<60), es.AggregateID{}, 100)
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

// versionOf returns a ledger's version; 0: it has no position.
func versionOf(ctx context.Context, t tb, store projection.Store, key es.AggregateID) uint64 {
	t.Helper()
	versions, err := store.Versions(ctx, []es.AggregateID{key})
	if err != nil {
		t.Fatalf("read the version: %v", err)
	}
	return versions[key]
}
