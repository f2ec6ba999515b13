package estest

import (
	"testing"

	"example.com/threads/es"
)

// Broken snapshots must be told, and the earlier ones must follow.
var brokenSnapshotContracts = []contract{
	{"a damaged snapshot is skipped", Settings{KeepSnapshots: 5}, func(t *testing.T, h Harness) {
		id := withSnapshots(t, h)
		h.DamageSnapshot(t, id, 30)
		wantSnapshots(t, h, id, 20, 10)
		h.DamageSnapshot(t, id, 20)
		wantSnapshots(t, h, id, 10)
		h.DamageSnapshot(t, id, 10)
		wantSnapshots(t, h, id)
	}},
	{"a missing snapshot is skipped", Settings{KeepSnapshots: 5}, func(t *testing.T, h Harness) {
		id := withSnapshots(t, h)
		h.RemoveSnapshot(t, id, 30)
		wantSnapshots(t, h, id, 20, 10)
		h.RemoveSnapshot(t, id, 10)
		wantSnapshots(t, h, id, 20)
	}},
	{"a large damaged snapshot is skipped", Settings{KeepSnapshots: 5}, func(t *testing.T, h Harness) {
		id := withSnapshots(t, h)
		grow(t, h, id, 30, 1, 0)
		saveLarge(t, h, id, 31)
		h.DamageSnapshot(t, id, 31)
		wantSnapshots(t, h, id, 30, 20, 10)
	}},
	{"a later snapshot replaces a damaged one", Settings{KeepSnapshots: 1}, func(t *testing.T, h Harness) {
		id := withSnapshots(t, h)
		h.DamageSnapshot(t, id, 30)
		h.RemoveSnapshot(t, id, 20)
		grow(t, h, id, 30, 1, 0)
		save(t, h, id, 31)
		wantSnapshots(t, h, id, 31)
	}},
	{"the same snapshot replaces a damaged one", Settings{KeepSnapshots: 5}, func(t *testing.T, h Harness) {
		id := withSnapshots(t, h)
		h.DamageSnapshot(t, id, 30)
		save(t, h, id, 30)
		wantSnapshots(t, h, id, 30, 20, 10)
	}},
	{"without any snapshot all events are read", Settings{}, func(t *testing.T, h Harness) {
		id := newID()
		written := grow(t, h, id, 0, 30, 0)
		save(t, h, id, 30)
		h.RemoveSnapshot(t, id, 30)
		wantSnapshots(t, h, id)
		wantEntries(t, h, id, 0, written)
	}},
}

// withSnapshots creates an aggregate at version 30 with snapshots at 10, 20 and 30.
func withSnapshots(t *testing.T, h Harness) es.AggregateID {
	t.Helper()
	id := newID()
	grow(t, h, id, 0, 30, 0)
	save(t, h, id, 10, 20, 30)
	return id
}

func saveLarge(t *testing.T, h Harness, id es.AggregateID, version uint64) {
	t.Helper()
	if err := h.Gateway.SaveSnapshot(t.Context(), id, es.Snapshot{Version: version, Payload: noise(1_000_000)}); err != nil {
		t.Fatal(err)
	}
}
