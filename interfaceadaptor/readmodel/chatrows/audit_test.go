package chatrows_test

import (
	"cmp"
	"testing"

	"example.com/threads/domain/account"
	"example.com/threads/domain/writing"
	"example.com/threads/es"
	"example.com/threads/interfaceadaptor/eventjson"
	"example.com/threads/interfaceadaptor/readmodel/chatrows"
	"example.com/threads/tests/kit/feed"
	"example.com/threads/tests/readmodeltest"
	"example.com/threads/usecase/query"
)

// Each row has the metadata of the events that created and last changed it.
func TestAuditOfRows(t *testing.T) {
	readmodeltest.Each(t, func(t *testing.T, db *readmodeltest.Database) {
		given := feed.New(t, db.DB, chatrows.Projection, chatrows.Handlers()...)
		given.Caller = es.Caller{ClientIP: "192.0.2.1", RequestID: "a request", Source: "a test"}
		check := func(name, creator string, envelopes []es.Envelope, stored func(take func(query.Audit)) error) {
			t.Helper()
			first, last := envelopes[0], envelopes[len(envelopes)-1]
			var rows []query.Audit
			err := stored(func(audit query.Audit) { rows = append(rows, audit) })
			if err != nil || len(rows) != 1 {
				t.Fatalf("the rows of %s: %v, %v", name, rows, err)
			}
			if got := rows[0]; got.CreatedBy.String() != cmp.Or(creator, first.Executor) || got.CreatedIP != first.ClientIP || got.UpdatedBy.String() != last.Executor ||
				got.UpdatedIP != last.ClientIP || got.RequestID != last.RequestID || got.Source != last.Source {
				t.Errorf("the row of %s has %+v after %+v", name, got, last)
			}
		}
		key := func(id string) [][]string { return [][]string{{"", id}} }

		id := readmodeltest.NewUser().String()
		happened := feed.Happened(given, eventjson.Accounts().Events, es.Tenant(""), id,
			[]account.Event{account.Registered{Name: writing.RecordedName("Ada")}, account.Renamed{Name: writing.RecordedName("Countess")}}...)
		check("an account", "", happened, func(take func(query.Audit)) error {
			return chatrows.Accounts.Load(t.Context(), db.DB, key(id), "", func(row query.Account) { take(row.Audit) })
		})
	})
}
