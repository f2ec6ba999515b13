package chat

import (
	"testing"

	"example.com/threads/domain/account"
	"example.com/threads/es"
	"example.com/threads/tests/sealed"
	"example.com/threads/usecase/query"
)

func TestWhatEventsDoToAnAccount(t *testing.T) {
	tenant := keyOf(t).Tenant
	at := func(seqNr uint64, event account.Event) es.Recorded[account.Event] {
		return es.Recorded[account.Event]{Event: event, Envelope: es.Envelope{
			AggregateType: account.AggregateType, AggregateID: alice.String(), SeqNr: seqNr, OccurredAt: later,
			Caller: next(keyOf(t), nil).Caller,
		}}
	}
	before := query.Account{Tenant: tenant, ID: alice, Name: "Alice", Version: 7, CreatedAt: begun, UpdatedAt: begun, Audit: first}
	after := func(change func(*query.Account)) query.Account {
		row := before
		row.Version, row.UpdatedAt, row.Audit = 8, later, changed
		change(&row)
		return row
	}
	var covered []string
	for _, c := range []struct {
		event  account.Event
		exists bool
		want   query.Account
	}{
		{account.Registered{Name: name(t, "Alice")}, false, query.Account{Tenant: tenant, ID: alice, Name: "Alice", Version: 8, CreatedAt: later, UpdatedAt: later, Audit: made}},
		{account.Renamed{Name: name(t, "Ally")}, true, after(func(row *query.Account) { row.Name = "Ally" })},
		{account.Closed{}, true, after(func(row *query.Account) { row.Closed = true })},
		{account.Erased{}, true, after(func(row *query.Account) { row.Name, row.Closed = "[erased]", true })}, // extra:erasure
	} {
		covered = append(covered, sealed.Name(c.event))
		row := query.Account{}
		if c.exists {
			row = before
		}
		if got, err := NextAccount(row, c.exists, at(8, c.event)); err != nil || got != c.want {
			t.Errorf("%T: %+v, %v, want %+v", c.event, got, err, c.want)
		}
		if c.event == account.Event(account.Erased{}) { // extra:erasure {
			continue // allowed for any account: see below
		} // extra:erasure }
		if _, err := NextAccount(row, !c.exists, at(8, c.event)); err == nil {
			t.Errorf("%T where the account's existence is %v: no error", c.event, !c.exists)
		}
		closed := before
		closed.Closed = true
		if _, err := NextAccount(closed, true, at(8, c.event)); err == nil {
			t.Errorf("%T of a closed account: no error", c.event)
		}
	}
	// An account that was never registered gets a row, and a closed account is erased, too. // extra:erasure {
	closed := before
	closed.Closed = true
	for about, c := range map[string]struct {
		row    query.Account
		exists bool
		want   query.Account
	}{
		"no account":       {query.Account{}, false, query.Account{Tenant: tenant, ID: alice, Name: "[erased]", Closed: true, Version: 8, CreatedAt: later, UpdatedAt: later, Audit: made}},
		"a closed account": {closed, true, after(func(row *query.Account) { row.Name, row.Closed = "[erased]", true })},
	} {
		if got, err := NextAccount(c.row, c.exists, at(8, account.Erased{})); err != nil || got != c.want {
			t.Errorf("the erasure of %s: %+v, %v, want %+v", about, got, err, c.want)
		}
	} // extra:erasure }
	sealed.Check(t, "events that get into rows", sealed.Types(t, "example.com/threads/domain/account", "isEvent"), covered)
}
