package projectiontest

import (
	"slices"
	"testing"

	"example.com/threads/es"
	"example.com/threads/es/projection"
)

// tenants: of two databases, each has the rows of its tenants. A tenant that has moved away is as if it had no events.
func tenants(t *testing.T, db Database) {
	journal := NewJournal()
	own, other := begin(t, journal, "acme"), begin(t, journal, "globex")
	own.write("one")
	other.write("one")
	both := slices.Concat(own.all(), other.all())
	of := func(tenants ...es.Tenant) *projection.Projector {
		options := projection.Options{Tenants: func(tenant es.Tenant) bool { return slices.Contains(tenants, tenant) }}
		return newProjectorOf(db, journal, options, ledgerType)
	}
	acme := of("acme")
	expectOutcome(t, project(t, acme, both...), projection.Outcome{Applied: 2})
	if outcome, err := acme.Repair(t.Context()); err != nil || outcome != (projection.Outcome{Repairs: 1}) {
		t.Errorf("%+v, %v", outcome, err)
	}
	expectVersion(t, db, own.key, 2)
	expectVersion(t, db, other.key, 0)

	// The other tenant moves here: from the journal, and from the source.
	all := of("acme", "globex")
	if outcome, err := all.Repair(t.Context()); err != nil || outcome != (projection.Outcome{Filled: 2, Repairs: 1}) {
		t.Errorf("%+v, %v", outcome, err)
	}
	expectRows(t, db, journal)

	// It moves away again: its rows are ahead of the journal, which a rebuild mends, and nothing is added to them.
	other.write("two")
	expectOutcome(t, project(t, acme, other.all()...), projection.Outcome{})
	if n, err := acme.Fill(t.Context(), other.key); err != nil || n != 0 {
		t.Errorf("%d events, %v", n, err)
	}
	expectVersion(t, db, other.key, 2)
	for key, want := range map[es.AggregateID]bool{own.key: false, other.key: true} {
		if ahead, err := acme.Ahead(t.Context(), projection.AtVersion{Key: key, Version: 2}); err != nil || ahead != want {
			t.Errorf("%s: ahead is %v, %v", key.Tenant, ahead, err)
		}
	}
	if _, err := acme.Repair(t.Context()); err != nil || acme.Drift().Ahead != 1 {
		t.Errorf("%+v, %v", acme.Drift(), err)
	}

	// Its type that nobody knows is not told any more.
	project(t, all, beginAs(t, journal, "order", "globex").all()...)
	again := of("acme")
	if err := again.Begin(t.Context(), false); err != nil || len(again.Unregistered()) > 0 {
		t.Errorf("%v, %v", again.Unregistered(), err)
	}
}
