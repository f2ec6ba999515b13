package sqlstore_test

import (
	"errors"
	"testing"

	"github.com/jmoiron/sqlx"

	"example.com/threads/interfaceadaptor/eventstore"
)

// TestTenantsAreStrangersToEachOther calls every method with the ids of another tenant's aggregate and command.
func TestTenantsAreStrangersToEachOther(t *testing.T) {
	onEach(t, func(t *testing.T, db *sqlx.DB) {
		gateway := newGateway(t, db)
		owner := newID()
		owner.Tenant = "owner"
		w := write(owner, 0, 3)
		commandID := w.Entries[2].CommandID
		w.Receipts = []eventstore.Receipt{receipt(commandID)}
		w.FirstSnapshot = []byte("{}")
		mustAppend(t, gateway, w)
		snapshot := eventstore.Snapshot{Version: 2, Payload: []byte("{}")}
		if err := gateway.SaveSnapshot(t.Context(), owner, snapshot); err != nil {
			t.Fatal(err)
		}
		head, err := gateway.Head(t.Context(), owner)
		if err != nil {
			t.Fatal(err)
		}

		for _, tenant := range []string{"", "stranger", "owne", "owner1"} {
			stranger := owner
			stranger.Tenant = tenant
			if got, err := gateway.Head(t.Context(), stranger); err != nil || got != (eventstore.Head{}) {
				t.Errorf("%q reads the head %+v, %v", tenant, got, err)
			}
			for entry, err := range gateway.Entries(t.Context(), stranger, 0, 3) {
				if err == nil {
					t.Errorf("%q reads event %d", tenant, entry.SeqNr)
				}
			}
			if entry, found, err := gateway.EntryByCommand(t.Context(), stranger, commandID); found || err != nil {
				t.Errorf("%q finds the event of a command: %+v, %v", tenant, entry, err)
			}
			if _, found, err := gateway.Receipt(t.Context(), tenant, commandID); found || err != nil {
				t.Errorf("%q reads a receipt, %v", tenant, err)
			}
			for got, err := range gateway.Snapshots(t.Context(), stranger, head) {
				t.Errorf("%q reads the snapshot at %d, %v", tenant, got.Version, err)
			}
			if err := gateway.SaveSnapshot(t.Context(), stranger, eventstore.Snapshot{Version: 3, Payload: []byte("{}")}); err == nil {
				t.Errorf("%q saves a snapshot", tenant)
			}
			if err := gateway.Append(t.Context(), write(stranger, 3, 1)); !errors.Is(err, eventstore.ErrConflict) {
				t.Errorf("%q appends: %v", tenant, err)
			}
			// The other tenant uses the same ids for an aggregate and a command of its own.
			own := write(stranger, 0, 1)
			own.Entries[0].CommandID = commandID
			own.Receipts = []eventstore.Receipt{receipt(commandID)}
			mustAppend(t, gateway, own)
		}
		if after, err := gateway.Head(t.Context(), owner); err != nil || after != head {
			t.Errorf("the owner's head is %+v, was %+v, %v", after, head, err)
		}
		heads := map[string]uint64{}
		for head, err := range gateway.Heads(t.Context(), "thread") {
			if err != nil {
				t.Fatal(err)
			}
			heads[head.ID.Tenant] = head.Version
		}
		if len(heads) != 5 || heads["owner"] != 3 || heads[""] != 1 {
			t.Errorf("the heads are %v", heads)
		}
	})
}

// TestACommandIsHandledOnceForEver tests the command ids in the journal, which outlive receipts.
func TestACommandIsHandledOnceForEver(t *testing.T) {
	onEach(t, func(t *testing.T, db *sqlx.DB) {
		gateway := newGateway(t, db)
		first := write(newID(), 0, 1)
		expired := receipt(first.Entries[0].CommandID)
		expired.ExpiresAt = expired.ExpiresAt.AddDate(-1, 0, 0)
		first.Receipts = []eventstore.Receipt{expired}
		mustAppend(t, gateway, first)
		entry, found, err := gateway.EntryByCommand(t.Context(), first.ID, expired.CommandID)
		if err != nil || !found || entry.EventID != first.Entries[0].EventID {
			t.Fatalf("%+v, %t, %v", entry, found, err)
		}
		again := write(first.ID, 1, 1)
		again.Entries[0].CommandID = expired.CommandID
		again.Receipts = []eventstore.Receipt{receipt(expired.CommandID)}
		var handled *eventstore.HandledError
		if err := gateway.Append(t.Context(), again); !errors.As(err, &handled) || handled.Receipt.Fingerprint != expired.Fingerprint {
			t.Errorf("got %v", err)
		}
		twice := write(first.ID, 1, 2)
		twice.Entries[1].CommandID = twice.Entries[0].CommandID
		if err := gateway.Append(t.Context(), twice); err == nil {
			t.Error("two events of one command were accepted")
		}
		if head, err := gateway.Head(t.Context(), first.ID); err != nil || head.Version != 1 {
			t.Errorf("%+v, %v", head, err)
		}
	})
}
