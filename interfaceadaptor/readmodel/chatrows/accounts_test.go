package chatrows_test

import (
	"testing"
	"time"

	"example.com/threads/domain/account"
	"example.com/threads/domain/writing"
	"example.com/threads/es"
	"example.com/threads/interfaceadaptor/eventjson"
	"example.com/threads/tests/kit"
	"example.com/threads/tests/kit/feed"
	"example.com/threads/tests/readmodeltest"
)

// addAccount adds an account to the journal and the rows, and makes it the aggregate whose differences are checked.
func (v *verified) addAccount() {
	v.t.Helper()
	v.key = es.AggregateID{Type: account.AggregateType, ID: readmodeltest.NewUser().String()}
	for i, event := range []account.Event{
		account.Registered{Name: writing.RecordedName("Ada")}, account.Renamed{Name: writing.RecordedName("Countess")}, account.Closed{},
	} {
		recorded := es.Recorded[account.Event]{Event: event, Envelope: es.Envelope{
			EventID: kit.NewID[account.Event]().String(), AggregateType: v.key.Type, AggregateID: v.key.ID, SeqNr: uint64(i + 1),
			OccurredAt: time.UnixMicro(1700000000123456 + int64(i)).UTC(), CommandID: "c", Caller: es.Caller{Executor: v.key.ID},
		}}
		v.journal[v.key] = append(v.journal[v.key], feed.Record(v.t, eventjson.Accounts().Events, recorded))
	}
	if _, err := v.Fill(v.t.Context(), v.key); err != nil {
		v.t.Fatal(err)
	}
}

func TestWhatIsSpoiltInRowsOfAccountsIsToldAndMended(t *testing.T) {
	readmodeltest.Each(t, func(t *testing.T, db *readmodeltest.Database) {
		v := newVerified(t, db)
		v.addAccount()
		v.spoil([]spoilt{
			{"UPDATE accounts SET name = 'Eve' WHERE id = :id", "accounts name"},
			{"UPDATE accounts SET closed = 0 WHERE id = :id", "accounts closed"},
			{"UPDATE accounts SET version = 9 WHERE id = :id", "accounts version"},
			{"UPDATE accounts SET updated_by = '' WHERE id = :id", "accounts updated_by"},
			{"DELETE FROM accounts WHERE id = :id", "accounts a row is missing"},
		})
	})
}

// A rebuild must fill the new set of every table, and the live set only by the switch.
func TestRebuildMakesTheRowsOfAccounts(t *testing.T) {
	readmodeltest.Each(t, func(t *testing.T, db *readmodeltest.Database) {
		r := newRebuilt(t, db)
		r.addAccount()
		// As a migration leaves the row.
		r.run("UPDATE accounts SET name = 'Eve', created_by = '', updated_by = '' WHERE id = :id")
		if err := r.rebuild().Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		if found := r.differences(); len(found) > 0 {
			t.Errorf("after the rebuild: %v", found)
		}
		var old string
		if err := db.DB.GetContext(t.Context(), &old, "SELECT name FROM accounts_old WHERE id = ?", r.key.ID); err != nil || old != "Eve" {
			t.Errorf("the old set has %q, %v", old, err)
		}
	})
}
