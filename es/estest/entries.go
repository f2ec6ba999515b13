package estest

import (
	"errors"
	"iter"
	"testing"

	"example.com/threads/es"
)

// long is the number of entries that exceeds an answer of a store with a limit of 1 MB.
const (
	long     = 2000
	longSize = 1000
)

var entriesContracts = []contract{
	{"bounds", Settings{}, func(t *testing.T, h Harness) {
		id := newID()
		written := grow(t, h, id, 0, 10, 0)
		for _, bounds := range []struct{ after, upTo uint64 }{{0, 10}, {0, 1}, {5, 9}, {9, 10}, {4, 4}, {10, 10}} {
			wantEntries(t, h, id, bounds.after, written[bounds.after:bounds.upTo])
		}
		if got, err := read(t, h, id, 7, 3); len(got) != 0 || err != nil {
			t.Errorf("with the bounds swapped: %d entries, %v", len(got), err)
		}
	}},
	{"a missing entry is an error", Settings{}, func(t *testing.T, h Harness) {
		id := newID()
		written := grow(t, h, id, 0, 3, 0)
		if got, err := read(t, h, id, 0, 4); err == nil || len(got) != len(written) {
			t.Errorf("read %d entries of %d up to 4: %v", len(got), len(written), err)
		}
		if got, err := read(t, h, newID(), 0, 1); err == nil || len(got) != 0 {
			t.Errorf("read %d entries of an aggregate that does not exist: %v", len(got), err)
		}
	}},
	{"by number", Settings{}, func(t *testing.T, h Harness) {
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
			if got, err := readAt(t, h, missing, 1); len(got) != 0 || !errors.Is(err, es.ErrInconsistent) {
				t.Errorf("entry 1 of %+v: %d entries, %v", missing, len(got), err)
			}
		}
		if got, err := readAt(t, h, id, 449, 451); len(got) != 1 || !errors.Is(err, es.ErrInconsistent) {
			t.Errorf("a missing entry: %d entries, %v", len(got), err)
		}
	}},
	{"a reader may stop", Settings{}, func(t *testing.T, h Harness) {
		id := newID()
		grow(t, h, id, 0, 5, 0)
		h.HideEntries(func(seqNr uint64) bool { return seqNr > 2 })
		for _, stop := range []uint64{1, 2, 3, 4} {
			for _, entries := range []iter.Seq2[es.Entry, error]{
				h.Gateway.Entries(t.Context(), id, 0, 5), h.Gateway.EntriesAt(t.Context(), id, []uint64{1, 2, 3, 4, 5}),
			} {
				for entry, err := range entries {
					if err != nil {
						t.Fatal(err)
					}
					if entry.SeqNr == stop {
						break
					}
				}
			}
		}
	}},
	{"long replay", Settings{}, func(t *testing.T, h Harness) {
		id := newID()
		written := grow(t, h, id, 0, long, longSize)
		for name, hidden := range map[string]func(seqNr uint64) bool{
			"nothing hidden":     func(uint64) bool { return false },
			"the newest hidden":  func(seqNr uint64) bool { return seqNr > long-30 },
			"the oldest hidden":  func(seqNr uint64) bool { return seqNr < 40 },
			"holes":              func(seqNr uint64) bool { return seqNr%7 == 0 || seqNr > 500 && seqNr < 620 },
			"everything hidden":  func(uint64) bool { return true },
			"all but one hidden": func(seqNr uint64) bool { return seqNr != 1234 },
		} {
			t.Run(name, func(t *testing.T) {
				h.HideEntries(hidden)
				wantEntries(t, h, id, 0, written)
				wantEntries(t, h, id, 497, written[497:])
			})
		}
	}},
}
