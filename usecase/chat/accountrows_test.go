package chat

import (
	"testing"

	"example.com/threads/domain/account"
	"example.com/threads/tests/sealed"
	"example.com/threads/usecase"
	"example.com/threads/usecase/query"
)

func TestWhatEventsDoToAnAccount(t *testing.T) {
	tenant := keyOf(t).Tenant
	at := func(seqNr uint64, event account.Event) usecase.Recorded[account.Event] {
		return usecase.Recorded[account.Event]{Event: event, Envelope: usecase.Envelope{
			AggregateType: account.AggregateType, AggregateID: alice.String(), SeqNr: seqNr, OccurredAt: later, Caller: usecase.Caller{Tenant: tenant},
		}}
	}
	before := query.Account{Tenant: tenant, ID: alice, Name: "Alice", Version: 7, CreatedAt: begun, UpdatedAt: begun}
	changed := func(change func(*query.Account)) query.Account {
		row := before
		row.Version, row.UpdatedAt = 8, later
		change(&row)
		return row
	}
	var covered []string
	for _, c := range []struct {
		event  account.Event
		exists bool
		want   query.Account
	}{
		{account.Registered{Name: name(t, "Alice")}, false, query.Account{Tenant: tenant, ID: alice, Name: "Alice", Version: 8, CreatedAt: later, UpdatedAt: later}},
		{account.Renamed{Name: name(t, "Ally")}, true, changed(func(row *query.Account) { row.Name = "Ally" })},
		{account.Closed{}, true, changed(func(row *query.Account) { row.Closed = true })},
	} {
		covered = append(covered, sealed.Name(c.event))
		row := query.Account{}
		if c.exists {
			row = before
		}
		if got, err := nextAccount(row, c.exists, at(8, c.event)); err != nil || got != c.want {
			t.Errorf("%T: %+v, %v, want %+v", c.event, got, err, c.want)
		}
		if _, err := nextAccount(row, !c.exists, at(8, c.event)); err == nil {
			t.Errorf("%T where the account's existence is %v: no error", c.event, !c.exists)
		}
		closed := before
		closed.Closed = true
		if _, err := nextAccount(closed, true, at(8, c.event)); err == nil {
			t.Errorf("%T of a closed account: no error", c.event)
		}
	}
	sealed.Check(t, "events that get into rows", sealed.Types(t, "example.com/threads/domain/account", "isEvent"), covered)
}
