package sqlstore_test

import (
	"errors"
	"testing"
	"time"

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
		if stored := entriesOf(t, gateway, first.ID, 1); stored[0].CommandID != expired.CommandID || stored[0].EventID != first.Entries[0].EventID {
			t.Fatalf("%+v", stored)
		}
		again := write(first.ID, 1, 1)
		again.Entries[0].CommandID = expired.CommandID
		again.Receipts = []es.Receipt{receipt(expired.CommandID)}
		var handled *es.HandledError
		if err := gateway.Append(t.Context(), again); !errors.As(err, &handled) || handled.Receipt.Fingerprint != expired.Fingerprint {
			t.Errorf("got %v", err)
		}
		if head, err := gateway.Head(t.Context(), first.ID); err != nil || head.Version != 1 {
			t.Errorf("%+v, %v", head, err)
		}
		several := write(first.ID, 1, 2)
		several.Entries[1].CommandID = several.Entries[0].CommandID
		mustAppend(t, gateway, several)
		if stored := entriesOf(t, gateway, first.ID, 3); stored[1].CommandID != several.Entries[0].CommandID || stored[2].CommandID != "" {
			t.Errorf("the command's id is not with its first event alone: %+v", stored)
		}
		if err := gateway.Append(t.Context(), es.Append{ID: first.ID, ExpectedVersion: 3, Entries: []es.Entry{{
			SeqNr: 4, EventID: "another", CommandID: several.Entries[0].CommandID, Payload: []byte("{}"), OccurredAt: time.Now(),
		}}}); !errors.As(err, &handled) {
			t.Errorf("a command of several events was handled twice: %v", err)
		}
	})
}
