package estest

import (
	"errors"
	"slices"
	"testing"

	"example.com/threads/es"
)

// Maintained is the harness of a gateway that is also an [es.Maintainer], with two more faults.
type Maintained struct {
	Harness
	SpoilPointer func(t *testing.T, id es.AggregateID) // makes snapshot_version invalid
	RemoveEntry  func(t *testing.T, id es.AggregateID, seqNr uint64)
}

func (m Maintained) store() es.Maintainer { return m.Gateway.(es.Maintainer) }

// RunMaintainer tests the gateway against the contract of es.Maintainer.
func RunMaintainer(t *testing.T, m Maintained) {
	for name, test := range map[string]func(*testing.T, Harness, Maintained){
		"aggregates of every type and tenant":     storedAggregates,
		"aggregates without entries or a head":    storedHalves,
		"a whole head":                            wholeHead,
		"entries whatever the head says":          storedEntries,
		"snapshots whole and broken":              storedSnapshots,
		"a head is replaced":                      replacedHead,
		"a lost head is made again":               lostHead,
		"a head that has changed is not replaced": changedHead,
		"a spoilt pointer is told and mended":     spoiltPointer,
		"a snapshot is dropped":                   droppedSnapshot,
		"entries are removed, but the last":       removedEntries,
	} {
		t.Run(name, func(t *testing.T) { test(t, m.Harness, m) })
	}
}

func storedAggregates(t *testing.T, h Harness, _ Maintained) {
	var want []es.AggregateID
	for _, place := range []struct {
		tenant es.Tenant
		kind   string
	}{{"", "tested"}, {"one", "tested"}, {"one", "other-kind"}} {
		id := newID()
		id.Tenant, id.Type = place.tenant, place.kind
		grow(t, h, id, 0, 12, 0) // more than one digit
		want = append(want, id)
	}
	wantStored(t, h, want...)
}

func storedHalves(t *testing.T, h Harness, m Maintained) {
	headless, empty := newID(), newID()
	grow(t, h, headless, 0, 2, 0)
	m.SetHead(t, headless, es.Head{})
	grow(t, h, empty, 0, 1, 0)
	m.RemoveEntry(t, empty, 1)
	wantStored(t, h, headless, empty)
}

func wantStored(t *testing.T, h Harness, want ...es.AggregateID) {
	t.Helper()
	seen := map[es.AggregateID]bool{}
	for stored, err := range h.Gateway.(es.Maintainer).StoredAggregates(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		if len(stored.Faults) > 0 {
			t.Errorf("%+v: %v", stored.ID, stored.Faults)
		}
		seen[stored.ID] = true
	}
	for _, id := range want {
		if !seen[id] {
			t.Errorf("%+v is not among the %d aggregates", id, len(seen))
		}
	}
}

func wholeHead(t *testing.T, h Harness, m Maintained) {
	id := newID()
	if found := storedHead(t, m, id); !found.Equal(es.StoredHead{}) {
		t.Errorf("of an aggregate that does not exist: %+v", found)
	}
	grow(t, h, id, 0, 5, 0)
	wantHead(t, m, id, es.Head{Version: 5})
	save(t, h, id, 3)
	wantHead(t, m, id, es.Head{Version: 5, SnapshotVersion: 3})
}

func storedHead(t *testing.T, m Maintained, id es.AggregateID) es.StoredHead {
	t.Helper()
	found, err := m.store().StoredHead(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func wantHead(t *testing.T, m Maintained, id es.AggregateID, want es.Head) {
	t.Helper()
	if found := storedHead(t, m, id); !found.Is(want) {
		t.Errorf("the head is %+v, want %+v", found, want)
	}
}

func storedEntries(t *testing.T, h Harness, m Maintained) {
	id := newID()
	written := grow(t, h, id, 0, 212, 0)
	m.RemoveEntry(t, id, 7)
	m.SetHead(t, id, es.Head{Version: 3})
	seen := map[uint64]bool{}
	for stored, err := range m.store().StoredEntries(t.Context(), id) {
		if err != nil {
			t.Fatal(err)
		}
		if len(stored.Faults) > 0 || seen[stored.SeqNr] {
			t.Fatalf("entry %d, seen %t: %v", stored.SeqNr, seen[stored.SeqNr], stored.Faults)
		}
		seen[stored.SeqNr] = true
		wantEntry(t, stored, written[stored.SeqNr-1])
	}
	if len(seen) != 211 || seen[7] {
		t.Errorf("%d entries of 211, the one that is not there: %t", len(seen), seen[7])
	}
}

func storedSnapshots(t *testing.T, h Harness, m Maintained) {
	id := withSnapshots(t, h)
	grow(t, h, id, 30, 1, 0)
	saveLarge(t, h, id, 31)
	m.DamageSnapshot(t, id, 31)
	m.DamageSnapshot(t, id, 20)
	m.RemoveSnapshot(t, id, 10)
	broken := map[uint64]bool{}
	for stored, err := range m.store().StoredSnapshots(t.Context(), id) {
		if err != nil {
			t.Fatal(err)
		}
		if stored.Version > 1 { // the first state may count as one
			broken[stored.Version] = stored.Broken != ""
		}
	}
	if len(broken) != 3 || !broken[20] || broken[30] || !broken[31] {
		t.Errorf("broken or not: %v", broken)
	}
}

func replacedHead(t *testing.T, h Harness, m Maintained) {
	id := newID()
	written := grow(t, h, id, 0, 5, 0)
	save(t, h, id, 4)
	m.SetHead(t, id, es.Head{Version: 3, SnapshotVersion: 2})
	if err := h.Gateway.Append(t.Context(), es.Append{ID: id, ExpectedVersion: 3, Entries: entries(3, 1, 0)}); err == nil {
		t.Fatal("an entry is written over another one")
	}
	found, right := storedHead(t, m, id), es.Head{Version: 5, SnapshotVersion: 4}
	if err := m.store().ReplaceHead(t.Context(), id, found, right); err != nil {
		t.Fatal(err)
	}
	wantHead(t, m, id, right)
	wantEntries(t, h, id, 0, written)
	grow(t, h, id, 5, 1, 0)
	// Without a pointer, too, and back.
	if err := m.store().ReplaceHead(t.Context(), id, storedHead(t, m, id), es.Head{Version: 6}); err != nil {
		t.Fatal(err)
	}
	wantHead(t, m, id, es.Head{Version: 6})
}

func lostHead(t *testing.T, h Harness, m Maintained) {
	id := newID()
	id.Tenant = "one"
	written := grow(t, h, id, 0, 5, 0)
	m.SetHead(t, id, es.Head{})
	if err := m.store().ReplaceHead(t.Context(), id, es.StoredHead{}, es.Head{Version: 5}); err != nil {
		t.Fatal(err)
	}
	wantHead(t, m, id, es.Head{Version: 5})
	wantEntries(t, h, id, 0, written)
	grow(t, h, id, 5, 1, 0)
	if _, found := heads(t, h, id.Type)[id]; !found {
		t.Error("the new head is not among the heads")
	}
}

func changedHead(t *testing.T, h Harness, m Maintained) {
	id := newID()
	grow(t, h, id, 0, 5, 0)
	found := storedHead(t, m, id)
	grow(t, h, id, 5, 1, 0)
	for _, stale := range []es.StoredHead{found, {}} {
		if err := m.store().ReplaceHead(t.Context(), id, stale, es.Head{Version: 4}); !errors.Is(err, es.ErrConflict) {
			t.Errorf("in the place of %+v: %v", stale, err)
		}
		if err := m.store().ReplaceHead(t.Context(), id, stale, es.Head{Version: 6}); err != nil {
			t.Errorf("what is there already: %v", err)
		}
	}
	wantHead(t, m, id, es.Head{Version: 6})
}

func spoiltPointer(t *testing.T, h Harness, m Maintained) {
	id := newID()
	grow(t, h, id, 0, 5, 0)
	save(t, h, id, 4)
	m.SpoilPointer(t, id)
	found := storedHead(t, m, id)
	if found.Version != 5 || found.SnapshotVersion != 0 || len(found.Faults) != 1 || found.Faults[0].Field != "snapshot_version" {
		t.Fatalf("the head is %+v", found)
	}
	if err := m.store().ReplaceHead(t.Context(), id, found, es.Head{Version: 5, SnapshotVersion: 4}); err != nil {
		t.Fatal(err)
	}
	wantHead(t, m, id, es.Head{Version: 5, SnapshotVersion: 4})
	wantSnapshots(t, h, id, 4)
}

func droppedSnapshot(t *testing.T, h Harness, m Maintained) {
	id := withSnapshots(t, h)
	grow(t, h, id, 30, 1, 0)
	saveLarge(t, h, id, 31)
	m.DamageSnapshot(t, id, 31)
	for range 2 { // deleting it twice is no error
		if err := m.store().DropSnapshot(t.Context(), id, 31); err != nil {
			t.Fatal(err)
		}
	}
	for stored, err := range m.store().StoredSnapshots(t.Context(), id) {
		if err != nil || stored.Broken != "" || stored.Version == 31 {
			t.Errorf("%+v, %v", stored, err)
		}
	}
	// The same version can be stored again.
	if err := m.store().ReplaceHead(t.Context(), id, storedHead(t, m, id), es.Head{Version: 31, SnapshotVersion: 30}); err != nil {
		t.Fatal(err)
	}
	save(t, h, id, 31)
	wantSnapshots(t, h, id, 31, 30, 20, 10)
}

func removedEntries(t *testing.T, h Harness, m Maintained) {
	id, other := newID(), newID()
	other.Tenant, other.ID = "one", id.ID
	written := grow(t, h, id, 0, 260, 0)
	grow(t, h, other, 0, 3, 0)
	for _, last := range []uint64{260, 261} {
		if err := m.store().RemoveEntries(t.Context(), id, 1, last); err == nil {
			t.Errorf("entries up to %d of 260 could be removed", last)
		}
	}
	if err := m.store().RemoveEntries(t.Context(), newID(), 1, 1); err == nil {
		t.Error("entries of an aggregate that does not exist could be removed")
	}
	wantNumbers(t, m, id, 1, 260)
	for range 2 { // again, as after a lost answer
		if err := m.store().RemoveEntries(t.Context(), id, 1, 251); err != nil {
			t.Fatal(err)
		}
		wantNumbers(t, m, id, 252, 260)
	}
	wantNumbers(t, m, other, 1, 3)
	for _, err := range m.Gateway.Entries(t.Context(), id, 0, 260) {
		if missing := (&es.InconsistentError{}); !errors.As(err, &missing) || missing.Event != 1 || missing.Head != 260 {
			t.Errorf("reading the removed entries: %v", err)
		}
	}
	after := uint64(251)
	for entry, err := range m.Gateway.Entries(t.Context(), id, after, 260) {
		if err != nil {
			t.Fatal(err)
		}
		after++
		wantEntry(t, entry, written[after-1])
	}
	grow(t, h, id, 260, 1, 0)
	wantHead(t, m, id, es.Head{Version: 261})
	if err := m.store().RemoveEntries(t.Context(), id, 252, 260); err != nil {
		t.Fatal(err)
	}
	wantNumbers(t, m, id, 261, 261)
}

func wantNumbers(t *testing.T, m Maintained, id es.AggregateID, first, last uint64) {
	t.Helper()
	var found, want []uint64
	for entry, err := range m.store().StoredEntries(t.Context(), id) {
		if err != nil {
			t.Fatal(err)
		}
		found = append(found, entry.SeqNr)
	}
	slices.Sort(found)
	for ; first <= last; first++ {
		want = append(want, first)
	}
	if !slices.Equal(found, want) {
		t.Errorf("the journal has the entries %v, want %v", found, want)
	}
}
