package estest

import (
	"testing"

	"example.com/threads/es"
)

var tenantContracts = []contract{
	{"another tenant's aggregate does not exist", Settings{}, func(t *testing.T, h Harness) {
		owner := newID()
		owner.Tenant = "one"
		grow(t, h, owner, 0, 3, 0)
		save(t, h, owner, 3)
		for _, tenant := range []es.Tenant{"", "two", "on", "one1"} {
			stranger := owner
			stranger.Tenant = tenant
			wantVersion(t, h, stranger, 0)
			if got, err := read(t, h, stranger, 0, 3); err == nil || len(got) > 0 {
				t.Errorf("tenant %q reads %d entries, %v", tenant, len(got), err)
			}
			if got := snapshots(t, h, stranger, es.Head{Version: 3, SnapshotVersion: 3}); len(got) > 0 {
				t.Errorf("tenant %q reads %d snapshots", tenant, len(got))
			}
			wantConflict(t, h.Gateway.Append(t.Context(), es.Append{ID: stranger, ExpectedVersion: 3, Entries: entries(3, 1, 0)}))
			if err := h.Gateway.SaveSnapshot(t.Context(), stranger, es.Snapshot{Version: 2, Payload: []byte("{}")}); err == nil {
				t.Errorf("tenant %q saves a snapshot", tenant)
			}
		}
		if head := wantVersion(t, h, owner, 3); head.SnapshotVersion != 3 {
			t.Errorf("the owner's head is %+v", head)
		}
	}},
	{"the same ULID is another aggregate", Settings{KeepSnapshots: 9}, func(t *testing.T, h Harness) {
		shared := newID()
		written := map[es.AggregateID][]es.Entry{}
		for i, tenant := range []es.Tenant{"", "one", "two"} {
			id := shared
			id.Tenant = tenant
			written[id] = grow(t, h, id, 0, 10*(i+1), 100)
			save(t, h, id, uint64(i+2), uint64(i+5))
		}
		for id, entries := range written {
			head := wantVersion(t, h, id, uint64(len(entries)))
			wantEntries(t, h, id, 0, entries)
			wantSnapshots(t, h, id, head.SnapshotVersion, head.SnapshotVersion-3, 1)
			h.HideEntries(func(seqNr uint64) bool { return seqNr%2 == 0 })
			wantEntries(t, h, id, 0, entries)
			h.HideEntries(func(uint64) bool { return false })
		}
	}},
}
