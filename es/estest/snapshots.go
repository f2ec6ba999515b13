package estest

import (
	"bytes"
	"slices"
	"sync"
	"testing"

	"example.com/threads/es"
)

var snapshotContracts = []contract{
	{"the first state is a snapshot", Settings{}, func(t *testing.T, h Harness) {
		id := newID()
		grow(t, h, id, 0, 5, 0)
		wantSnapshots(t, h, id, 1)
	}},
	{"an aggregate that does not exist has no snapshot", Settings{}, func(t *testing.T, h Harness) {
		id := newID()
		wantSnapshots(t, h, id)
		if err := h.Gateway.SaveSnapshot(t.Context(), id, es.Snapshot{Version: 1, Payload: state(1)}); err == nil {
			t.Error("a snapshot of an aggregate that does not exist was accepted")
		}
		wantVersion(t, h, id, 0)
	}},
	{"the latest snapshot comes first", Settings{KeepSnapshots: 9}, func(t *testing.T, h Harness) {
		id := newID()
		grow(t, h, id, 0, 30, 0)
		save(t, h, id, 10, 20, 30)
		if head := wantVersion(t, h, id, 30); head.SnapshotVersion != 30 {
			t.Errorf("the head's snapshot is %d", head.SnapshotVersion)
		}
		wantSnapshots(t, h, id, 30, 20, 10, 1)
		for version, want := range map[uint64][]uint64{29: {20, 10, 1}, 20: {20, 10, 1}, 10: {10, 1}, 9: {1}, 1: {1}} {
			earlier := es.Head{Version: version, SnapshotVersion: 30}
			var got []uint64
			for _, snapshot := range snapshots(t, h, id, earlier) {
				got = append(got, snapshot.Version)
			}
			if !slices.Equal(got, want) {
				t.Errorf("as of version %d: snapshots %v, want %v", version, got, want)
			}
		}
		written := grow(t, h, id, 30, 1, 0)
		wantEntries(t, h, id, 30, written)
	}},
	{"saving an older snapshot changes nothing", Settings{KeepSnapshots: 9}, func(t *testing.T, h Harness) {
		id := newID()
		grow(t, h, id, 0, 30, 0)
		save(t, h, id, 20)
		for _, version := range []uint64{10, 20} {
			late := es.Snapshot{Version: version, Payload: []byte(`{"late":true}`)}
			if err := h.Gateway.SaveSnapshot(t.Context(), id, late); err != nil {
				t.Fatal(err)
			}
		}
		wantSnapshots(t, h, id, 20, 1)
	}},
	{"a snapshot ahead of the journal is refused", Settings{}, func(t *testing.T, h Harness) {
		id := newID()
		grow(t, h, id, 0, 2, 0)
		if err := h.Gateway.SaveSnapshot(t.Context(), id, es.Snapshot{Version: 3, Payload: state(3)}); err == nil {
			t.Error("a snapshot of version 3 was accepted at version 2")
		}
		wantSnapshots(t, h, id, 1)
	}},
	{"as many snapshots as are to be kept are kept", Settings{KeepSnapshots: 2}, func(t *testing.T, h Harness) {
		id := newID()
		grow(t, h, id, 0, 60, 0)
		early := wantVersion(t, h, id, 60)
		save(t, h, id, 10)
		beforeOthers := wantVersion(t, h, id, 60)
		save(t, h, id, 20, 30, 40, 50, 60)
		wantSnapshots(t, h, id, 60, 50, 40)
		for _, head := range []es.Head{early, beforeOthers} { // read before others wrote
			if got := snapshots(t, h, id, head); len(got) == 0 {
				t.Errorf("a reader with an early head %+v found nothing", head)
			}
		}
	}},
	{"only the latest snapshot is kept", Settings{}, func(t *testing.T, h Harness) {
		id := newID()
		grow(t, h, id, 0, 30, 0)
		save(t, h, id, 10, 20, 30)
		wantSnapshots(t, h, id, 30)
	}},
	{"a large snapshot", Settings{}, func(t *testing.T, h Harness) {
		id := newID()
		grow(t, h, id, 0, 2, 0)
		for _, size := range []int{2_000_000, 400_000} {
			large := es.Snapshot{Version: 2, Payload: noise(size)}
			if size < 1_000_000 { // a second one, which replaces the first
				grow(t, h, id, 2, 1, 0)
				large.Version = 3
			}
			if err := h.Gateway.SaveSnapshot(t.Context(), id, large); err != nil {
				t.Fatal(err)
			}
			head, err := h.Gateway.Head(t.Context(), id)
			if err != nil {
				t.Fatal(err)
			}
			got := snapshots(t, h, id, head)
			if len(got) == 0 || got[0].Version != large.Version || !bytes.Equal(got[0].Payload, large.Payload) {
				t.Fatalf("the snapshot of %d bytes was not read", size)
			}
		}
	}},
	{"many writers save snapshots at the same time", Settings{KeepSnapshots: 1}, func(t *testing.T, h Harness) {
		id := newID()
		grow(t, h, id, 0, 80, 0)
		var done sync.WaitGroup
		for saver := range 16 {
			done.Go(func() {
				version := uint64(saver/2+1) * 10
				if err := h.Gateway.SaveSnapshot(t.Context(), id, es.Snapshot{Version: version, Payload: state(version)}); err != nil {
					t.Errorf("version %d: %v", version, err)
				}
			})
		}
		done.Wait()
		head := wantVersion(t, h, id, 80)
		got := snapshots(t, h, id, head)
		if head.SnapshotVersion != 80 || len(got) == 0 || got[0].Version != 80 {
			t.Errorf("the head's snapshot is %d, or the latest of %d is not 80", head.SnapshotVersion, len(got))
		}
	}},
}

func save(t *testing.T, h Harness, id es.AggregateID, versions ...uint64) {
	t.Helper()
	for _, version := range versions {
		if err := h.Gateway.SaveSnapshot(t.Context(), id, es.Snapshot{Version: version, Payload: state(version)}); err != nil {
			t.Fatalf("save the snapshot at %d: %v", version, err)
		}
	}
}

func snapshots(t *testing.T, h Harness, id es.AggregateID, head es.Head) []es.Snapshot {
	t.Helper()
	var got []es.Snapshot
	for snapshot, err := range h.Gateway.Snapshots(t.Context(), id, head) {
		if err != nil {
			t.Fatalf("snapshots of %s: %v", id, err)
		}
		if snapshot.Version > head.Version {
			t.Fatalf("a snapshot at %d for a head at %d", snapshot.Version, head.Version)
		}
		switch {
		case snapshot.Broken == "":
			got = append(got, snapshot)
		case snapshot.Payload != nil:
			t.Errorf("the broken snapshot at %d has a payload", snapshot.Version)
		}
	}
	return got
}

// wantSnapshots compares versions and states. A store may keep the state after entry 1 for ever, or count it as one to
// keep, so it may be missing unless it is in want.
func wantSnapshots(t *testing.T, h Harness, id es.AggregateID, want ...uint64) {
	t.Helper()
	head, err := h.Gateway.Head(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	var got []uint64
	for _, snapshot := range snapshots(t, h, id, head) {
		if !bytes.Equal(snapshot.Payload, state(snapshot.Version)) {
			t.Errorf("the snapshot at %d is %.80s", snapshot.Version, snapshot.Payload)
		}
		got = append(got, snapshot.Version)
	}
	if last := len(got) - 1; last >= 0 && got[last] == 1 && !slices.Contains(want, 1) {
		got = got[:last]
	}
	if !slices.Equal(got, want) {
		t.Errorf("the snapshots are at %v, want %v", got, want)
	}
}
