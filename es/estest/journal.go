package estest

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"testing"

	"example.com/threads/es"
)

var journalContracts = []contract{
	{"every aggregate of the type is listed once", Settings{}, func(t *testing.T, h Harness) {
		want := map[es.AggregateID]es.Head{}
		for i, tenant := range []es.Tenant{"", "one", "one", "two"} {
			id := newID()
			id.Tenant = tenant
			grow(t, h, id, 0, i+2, 0)
			save(t, h, id, 2)
			want[id] = es.Head{Version: uint64(i + 2), SnapshotVersion: 2}
		}
		other := newID()
		other.Type = "other"
		grow(t, h, other, 0, 1, 0)

		misnamed := newID()
		misnamed.ID = "misnamed"
		grow(t, h, misnamed, 0, 1, 0)

		got := heads(t, h, "notebook")
		if _, found := got[misnamed]; found {
			t.Error("what names no aggregate is among them")
		}
		if _, found := got[other]; found {
			t.Error("an aggregate of another type is among them")
		}
		maps.DeleteFunc(got, func(id es.AggregateID, _ es.Head) bool { _, ours := want[id]; return !ours })
		if !maps.Equal(got, want) {
			t.Errorf("got %v, want %v", got, want)
		}
		if _, found := heads(t, h, "other")[other]; !found {
			t.Error("an aggregate of the other type is not found")
		}
	}},
	{"a context that has ended is an error", Settings{}, func(t *testing.T, h Harness) {
		id := newID()
		grow(t, h, id, 0, 1, 0)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		var err error
		for _, err = range as[es.Journal](t, h).Heads(ctx, id.Type) {
		}
		if !errors.Is(err, context.Canceled) {
			t.Errorf("Heads: %v", err)
		}
	}},
	{"the whole journal has every entry, and goes on after a page", Settings{}, func(t *testing.T, h Harness) {
		written := map[es.AggregateID][]es.Entry{}
		for i, tenant := range []es.Tenant{"", "one", "two"} {
			id := newID()
			id.Tenant = tenant
			written[id] = grow(t, h, id, 0, 10*i+2, 0)
		}
		journal := as[es.Journal](t, h)
		partOf := map[es.AggregateID]int{}
		found := map[es.AggregateID]map[uint64]bool{}
		for part := range journal.JournalParts() {
			for after, more := "", true; more; {
				more = false
				for page, err := range journal.ReadJournal(t.Context(), part, journal.JournalParts(), after) {
					if err != nil {
						t.Fatal(err)
					}
					for _, queued := range page.Entries {
						ours := written[queued.ID]
						if ours == nil {
							continue
						}
						if other, known := partOf[queued.ID]; known && other != part || found[queued.ID][queued.SeqNr] {
							t.Errorf("entry %d of %s is in several parts or pages", queued.SeqNr, queued.ID)
						}
						if !bytes.Equal(queued.Payload, ours[queued.SeqNr-1].Payload) {
							t.Errorf("entry %d of %s is %s", queued.SeqNr, queued.ID, queued.Payload)
						}
						if found[queued.ID] == nil {
							partOf[queued.ID], found[queued.ID] = part, map[uint64]bool{}
						}
						found[queued.ID][queued.SeqNr] = true
					}
					after, more = page.Next, true // like another process, which has only the position
					break
				}
			}
		}
		for id, entries := range written {
			if len(found[id]) != len(entries) {
				t.Errorf("%d entries of %s, want %d", len(found[id]), id, len(entries))
			}
		}
		for _, err := range journal.ReadJournal(t.Context(), 0, 1, "?") {
			if err == nil {
				t.Error("a position that no page has was read")
			}
		}
	}},
	{"a reader may stop", Settings{}, func(t *testing.T, h Harness) {
		grow(t, h, newID(), 0, 1, 0)
		grow(t, h, newID(), 0, 1, 0)
		seen := 0
		for _, err := range as[es.Journal](t, h).Heads(t.Context(), "notebook") {
			if err != nil {
				t.Fatal(err)
			}
			seen++
			break
		}
		if seen != 1 {
			t.Errorf("saw %d heads", seen)
		}
	}},
}

func heads(t *testing.T, h Harness, aggregateType string) map[es.AggregateID]es.Head {
	t.Helper()
	got := map[es.AggregateID]es.Head{}
	for head, err := range as[es.Journal](t, h).Heads(t.Context(), aggregateType) {
		if err != nil {
			t.Fatal(err)
		}
		if _, twice := got[head.ID]; twice {
			t.Errorf("%+v is listed twice", head.ID)
		}
		got[head.ID] = head.Head
	}
	return got
}
