package estest

import (
	"iter"
	"testing"

	"example.com/threads/es"
)

// long is the number of entries that exceeds an answer of a store with a limit of 1 MB.
const (
	long     = 300
	longSize = 4000 // bytes
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
	{"a reader may stop", Settings{}, func(t *testing.T, h Harness) {
		id := newID()
		grow(t, h, id, 0, 5, 0)
		h.HideEntries(func(seqNr uint64) bool { return seqNr > 2 })
		mayStop(t, h.Gateway.Entries(t.Context(), id, 0, 5))
	}},
	{"long replay", Settings{}, func(t *testing.T, h Harness) {
		id := newID()
		written := grow(t, h, id, 0, long, longSize)
		for name, hidden := range map[string]func(seqNr uint64) bool{
			"nothing hidden":     func(uint64) bool { return false },
			"the newest hidden":  func(seqNr uint64) bool { return seqNr > long-30 },
			"the oldest hidden":  func(seqNr uint64) bool { return seqNr < 40 },
			"holes":              func(seqNr uint64) bool { return seqNr%7 == 0 || seqNr > 125 && seqNr < 245 },
			"everything hidden":  func(uint64) bool { return true },
			"all but one hidden": func(seqNr uint64) bool { return seqNr != 221 },
		} {
			t.Run(name, func(t *testing.T) {
				h.HideEntries(hidden)
				wantEntries(t, h, id, 0, written)
				wantEntries(t, h, id, 97, written[97:])
			})
		}
	}},
}

// mayStop stops reading entries 1 to 5 before each of them.
func mayStop(t *testing.T, entries iter.Seq2[es.Entry, error]) {
	t.Helper()
	for _, stop := range []uint64{1, 2, 3, 4} {
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
