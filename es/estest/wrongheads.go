package estest

import (
	"errors"
	"testing"

	"example.com/threads/es"
)

// Heads that contradict the journal or point to no snapshot, as after tables were restored to different times.
var wrongHeadContracts = []contract{
	{"a head one event behind its journal", Settings{}, func(t *testing.T, h Harness) {
		id := newID()
		written := grow(t, h, id, 0, 3, 0)
		h.SetHead(t, id, es.Head{Version: 2})
		wantInconsistent(t, appendOne(t, h, id, 2), es.InconsistentError{ID: id, Head: 2, Event: 3})
		wantInconsistent(t, verify(t, h, id), es.InconsistentError{ID: id, Head: 2, Event: 3})
		wantConflict(t, appendOne(t, h, id, 1))
		wantConflict(t, appendOne(t, h, id, 3))
		wantEntries(t, h, id, 0, written)
	}},
	{"a head further behind", Settings{}, func(t *testing.T, h Harness) {
		id := newID()
		grow(t, h, id, 0, 5, 0)
		h.SetHead(t, id, es.Head{Version: 2})
		wantInconsistent(t, appendOne(t, h, id, 2), es.InconsistentError{ID: id, Head: 2, Event: 3})
	}},
	{"a missing head", Settings{}, func(t *testing.T, h Harness) {
		id := newID()
		grow(t, h, id, 0, 3, 0)
		h.SetHead(t, id, es.Head{})
		wantVersion(t, h, id, 0)
		wantInconsistent(t, verify(t, h, id), es.InconsistentError{ID: id, Head: 0, Event: 1})
		wantInconsistent(t, appendOne(t, h, id, 0), es.InconsistentError{ID: id, Head: 0, Event: 1})
		wantConflict(t, appendOne(t, h, id, 3))
	}},
	{"a head ahead of its journal", Settings{}, func(t *testing.T, h Harness) {
		id := newID()
		grow(t, h, id, 0, 3, 0)
		h.SetHead(t, id, es.Head{Version: 5})
		_, err := read(t, h, id, 0, 5)
		wantInconsistent(t, err, es.InconsistentError{ID: id, Head: 5, Event: 4})
		wantConflict(t, appendOne(t, h, id, 3)) // whoever decided on fewer events than the head tells of
		wantVersion(t, h, id, 5)
	}},
	{"a correct head is no contradiction", Settings{}, func(t *testing.T, h Harness) {
		id := newID()
		if err := verify(t, h, id); err != nil {
			t.Errorf("for an aggregate that does not exist: %v", err)
		}
		grow(t, h, id, 0, 3, 0)
		if err := verify(t, h, id); err != nil {
			t.Error(err)
		}
		if err := (es.Head{Version: 1}).Verify(t.Context(), h.Gateway, id); err != nil {
			t.Errorf("for a head that was read before others wrote: %v", err)
		}
	}},
	{"a pointer beyond the head's version", Settings{}, func(t *testing.T, h Harness) {
		id := newID()
		grow(t, h, id, 0, 30, 0)
		save(t, h, id, 20)
		h.SetHead(t, id, es.Head{Version: 30, SnapshotVersion: 99})
		if head := wantVersion(t, h, id, 30); head.SnapshotVersion != 0 {
			t.Errorf("the pointer was not ignored: %+v", head)
		}
		if _, found := heads(t, h, id.Type)[id]; !found {
			t.Error("the head is missing in Heads")
		}
		save(t, h, id, 30)
		wantPointer(t, h, id, 30)
	}},
	{"a pointer to a missing snapshot", Settings{KeepSnapshots: 5}, func(t *testing.T, h Harness) {
		id := newID()
		grow(t, h, id, 0, 30, 0)
		save(t, h, id, 20)
		for _, pointer := range []uint64{25, 30} {
			h.SetHead(t, id, es.Head{Version: 30, SnapshotVersion: pointer})
			save(t, h, id, pointer)
			wantPointer(t, h, id, pointer)
		}
	}},
	{"a pointer to a broken snapshot", Settings{KeepSnapshots: 5}, func(t *testing.T, h Harness) {
		id := withSnapshots(t, h)
		h.DamageSnapshot(t, id, 30)
		save(t, h, id, 30)
		wantPointer(t, h, id, 30)
		h.DamageSnapshot(t, id, 30)
		grow(t, h, id, 30, 1, 0)
		save(t, h, id, 31)
		wantPointer(t, h, id, 31)
	}},
	{"an entry that no reader could read", Settings{}, func(t *testing.T, h Harness) {
		id := newID()
		early, noPayload := entries(0, 1, 0), entries(0, 1, 0)
		early[0].OccurredAt = early[0].OccurredAt.AddDate(-100, 0, 0)
		noPayload[0].Payload = nil
		for name, made := range map[string][]es.Entry{"before 1970": early, "without a payload": noPayload} {
			if err := h.Gateway.Append(t.Context(), es.Append{ID: id, Entries: made}); err == nil {
				t.Errorf("an entry %s was accepted", name)
			}
		}
		wantVersion(t, h, id, 0)
	}},
}

func appendOne(t *testing.T, h Harness, id es.AggregateID, expected uint64) error {
	t.Helper()
	return h.Gateway.Append(t.Context(), es.Append{ID: id, ExpectedVersion: expected, Entries: entries(expected, 1, 0)})
}

// verify reads the head and compares it with the journal.
func verify(t *testing.T, h Harness, id es.AggregateID) error {
	t.Helper()
	head, err := h.Gateway.Head(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return head.Verify(t.Context(), h.Gateway, id)
}

func wantInconsistent(t *testing.T, err error, want es.InconsistentError) {
	t.Helper()
	var got *es.InconsistentError
	if !errors.As(err, &got) || *got != want || errors.Is(err, es.ErrConflict) || es.KindOf(err) != es.Inconsistent {
		t.Errorf("got %v, want %v", err, &want)
	}
}

// wantPointer checks that the head points to the version and that its snapshot is complete.
func wantPointer(t *testing.T, h Harness, id es.AggregateID, version uint64) {
	t.Helper()
	head, err := h.Gateway.Head(t.Context(), id)
	if err != nil || head.SnapshotVersion != version {
		t.Errorf("head %+v, %v; want the snapshot at %d", head, err, version)
	}
	for snapshot, err := range h.Gateway.Snapshots(t.Context(), id, head) {
		if err != nil || snapshot.Version != version || snapshot.Broken != "" {
			t.Errorf("the latest snapshot is at %d, %s %v; want %d", snapshot.Version, snapshot.Broken, err, version)
		}
		break
	}
}
