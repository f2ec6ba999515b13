package estest

import (
	"maps"
	"testing"

	"example.com/threads/es"
)

var headsContracts = []contract{
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

		got := heads(t, h, "thread")
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
	{"a reader may stop", Settings{}, func(t *testing.T, h Harness) {
		grow(t, h, newID(), 0, 1, 0)
		grow(t, h, newID(), 0, 1, 0)
		seen := 0
		for _, err := range h.Gateway.Heads(t.Context(), "thread") {
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
	for head, err := range h.Gateway.Heads(t.Context(), aggregateType) {
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
