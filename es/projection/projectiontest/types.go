package projectiontest

import (
	"log/slog"
	"strings"
	"testing"

	"example.com/threads/es"
	"example.com/threads/es/projection"
)

// unregisteredType: events of a type without a handler are reported and skipped. Once there is a handler, all of them
// are projected, also after restarts in between.
func unregisteredType(t *testing.T, db Database) {
	journal := NewJournal()
	var log strings.Builder
	options := projection.Options{Logger: slog.New(slog.NewTextHandler(&log, nil))}
	batch := func(position string, records ...projection.Record) projection.Batch {
		return projection.Batch{Records: records, Checkpoint: projection.Checkpoint{Source: "s", Shard: "0", Position: position}}
	}

	known, order := begin(t, journal, "acme"), beginAs(t, journal, "order", "acme")
	for life, position := range []string{"1", "2", "3"} { // a program that does not know orders, and its restarts
		projector := newProjectorOf(db, journal, options, ledgerType)
		if err := projector.Begin(t.Context(), life == 0); err != nil {
			t.Fatal(err)
		}
		if life > 0 {
			expectUnregistered(t, projector, order.key) // before it has seen another one
		}
		known.write("goes on")
		order.write("is left out")
		later := beginAs(t, journal, "order", "")
		records := append(order.all(), append(later.all(), known.all()...)...)
		outcome, err := projector.Project(t.Context(), batch(position, records...))
		if err != nil || outcome.Unregistered != len(order.all())+1 {
			t.Errorf("%+v, %v", outcome, err)
		}
		expectUnregistered(t, projector, order.key)
		expectVersion(t, db, known.key, known.version())
		expectVersion(t, db, order.key, 0)
	}
	if told := strings.Count(log.String(), "let this one ignore the type"); told != 3 || !strings.Contains(log.String(), order.key.String()) {
		t.Errorf("the type was logged %d times in 3 lives:\n%s", told, log.String())
	}
	if stored, err := db.Checkpoints(t.Context(), "s"); err != nil || len(stored) != 1 || stored[0].Position != "3" {
		t.Errorf("the source did not continue: %v, %v", stored, err)
	}

	order.write("once a handler is registered")
	projector := newProjectorOf(db, journal, options, ledgerType, "order")
	if err := projector.Begin(t.Context(), false); err != nil || projector.RepairSince().IsZero() {
		t.Fatal("no repair is due", err)
	}
	project(t, projector, order.records(order.version(), order.version())...)
	runUntil(t, projector, func() bool { return projector.RepairSince().IsZero() })
	expectRows(t, db, journal)

	after := newProjectorOf(db, journal, options, ledgerType, "order")
	if err := after.Begin(t.Context(), false); err != nil || !after.RepairSince().IsZero() || len(after.Unregistered()) > 0 {
		t.Errorf("something is left to do: %v", after.Unregistered())
	}
}

func expectUnregistered(t *testing.T, projector *projection.Projector, first es.AggregateID) {
	t.Helper()
	if found := projector.Unregistered(); len(found) != 1 || found[0] != first {
		t.Errorf("unregistered are %v, the first event was of %v", found, first)
	}
}

// ignoredType: an ignored type is not reported, and still complete once there is a handler.
func ignoredType(t *testing.T, db Database) {
	journal := NewJournal()
	order := beginAs(t, journal, "order", "")
	var log strings.Builder
	options := projection.Options{Logger: slog.New(slog.NewTextHandler(&log, nil)), Ignore: []string{"order"}}
	projector := newProjectorOf(db, journal, options, ledgerType)
	if err := projector.Begin(t.Context(), true); err != nil {
		t.Fatal(err)
	}
	project(t, projector, order.all()...)
	if found := projector.Unregistered(); len(found) > 0 || log.Len() > 0 {
		t.Errorf("the ignored type is reported: %v\n%s", found, log.String())
	}
	knowing := newProjectorOf(db, journal, options, ledgerType, "order")
	if err := knowing.Begin(t.Context(), false); err != nil {
		t.Fatal(err)
	}
	runUntil(t, knowing, func() bool { return knowing.RepairSince().IsZero() })
	expectRows(t, db, journal)
}

// goneType: a type without a handler is reported as long as the journal has an event of it, and all the same projected
// later.
func goneType(t *testing.T, db Database) {
	journal := NewJournal()
	order, later := beginAs(t, journal, "order", "acme"), beginAs(t, journal, "order", "")
	projector := newProjectorOf(db, journal, projection.Options{}, ledgerType)
	if err := projector.Begin(t.Context(), true); err != nil {
		t.Fatal(err)
	}
	project(t, projector, order.all()...)
	expectUnregistered(t, projector, order.key)
	gone := journal.remove(order.key)
	runUntil(t, projector, func() bool { return projector.Unregistered()[0] == later.key })
	gone = append(gone, journal.remove(later.key)...)
	runUntil(t, projector, func() bool { return len(projector.Unregistered()) == 0 })
	after := newProjectorOf(db, journal, projection.Options{}, ledgerType)
	if err := after.Begin(t.Context(), false); err != nil || len(after.Unregistered()) > 0 {
		t.Errorf("after a restart %v are reported, %v", after.Unregistered(), err)
	}
	for _, event := range gone {
		journal.Append(event)
	}
	project(t, after, later.all()...)
	expectUnregistered(t, after, later.key)

	knowing := newProjectorOf(db, journal, projection.Options{}, ledgerType, "order")
	if err := knowing.Begin(t.Context(), false); err != nil {
		t.Fatal(err)
	}
	runUntil(t, knowing, func() bool { return knowing.RepairSince().IsZero() })
	expectRows(t, db, journal)
}
