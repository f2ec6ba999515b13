package sqlstore_test

import (
	"errors"
	"testing"

	"github.com/jmoiron/sqlx"

	"example.com/threads/es"
)

// TestACommandIsHandledOnceForEver tests the command ids in the journal, which outlive receipts.
func TestACommandIsHandledOnceForEver(t *testing.T) {
	onEach(t, func(t *testing.T, db *sqlx.DB) {
		gateway := newGateway(t, db)
		first := write(newID(), 0, 1)
		expired := receipt(first.Entries[0].CommandID)
		expired.ExpiresAt = expired.ExpiresAt.AddDate(-1, 0, 0)
		first.Receipts = []es.Receipt{expired}
		mustAppend(t, gateway, first)
		entry, found, err := gateway.EntryByCommand(t.Context(), first.ID, expired.CommandID)
		if err != nil || !found || entry.EventID != first.Entries[0].EventID {
			t.Fatalf("%+v, %t, %v", entry, found, err)
		}
		again := write(first.ID, 1, 1)
		again.Entries[0].CommandID = expired.CommandID
		again.Receipts = []es.Receipt{receipt(expired.CommandID)}
		var handled *es.HandledError
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
