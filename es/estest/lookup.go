package estest

import (
	"testing"

	"example.com/threads/es"
)

var lookupContracts = []contract{
	{"entries by number", Settings{}, func(t *testing.T, h Harness) {
		id := newID()
		written := grow(t, h, id, 0, 450, 0)
		h.HideEntries(func(uint64) bool { return true }) // EntriesAt must read consistently
		for _, step := range []int{1, 2, 7, 449, 450} {
			var seqNrs []uint64
			var want []es.Entry
			for i := 0; i < len(written); i += step {
				seqNrs, want = append(seqNrs, written[i].SeqNr), append(want, written[i])
			}
			got, err := readAt(t, h, id, seqNrs...)
			if err != nil || len(got) != len(want) {
				t.Fatalf("every %dth: %d entries, want %d: %v", step, len(got), len(want), err)
			}
			for i := range want {
				wantEntry(t, got[i], want[i])
			}
		}
		if got, err := readAt(t, h, id); len(got) != 0 || err != nil {
			t.Errorf("no numbers: %d entries, %v", len(got), err)
		}
		other := id
		other.Tenant = "other"
		for _, missing := range []es.AggregateID{other, newID()} {
			if got, err := readAt(t, h, missing, 1); len(got) != 0 || es.KindOf(err) != es.Inconsistent {
				t.Errorf("entry 1 of %+v: %d entries, %v", missing, len(got), err)
			}
		}
		if got, err := readAt(t, h, id, 449, 451); len(got) != 1 || es.KindOf(err) != es.Inconsistent {
			t.Errorf("a missing entry: %d entries, %v", len(got), err)
		}
	}},
	{"a reader may stop", Settings{}, func(t *testing.T, h Harness) {
		id := newID()
		grow(t, h, id, 0, 5, 0)
		mayStop(t, h.Gateway.EntriesAt(t.Context(), id, []uint64{1, 2, 3, 4, 5}))
	}},
}
