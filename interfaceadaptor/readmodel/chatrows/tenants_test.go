package chatrows_test

import (
	"cmp"
	"errors"
	"slices"
	"testing"

	"example.com/threads/domain/account"
	"example.com/threads/domain/ident"
	"example.com/threads/domain/tenant"
	"example.com/threads/domain/writing"
	"example.com/threads/es"
	"example.com/threads/interfaceadaptor/accountcodec"
	"example.com/threads/interfaceadaptor/readmodel/chatrows"
	"example.com/threads/interfaceadaptor/readmodel/queryreader"
	"example.com/threads/interfaceadaptor/tenantcodec"
	"example.com/threads/tests/kit/feed"
	"example.com/threads/tests/readmodeltest"
	"example.com/threads/tests/sealed"
	"example.com/threads/usecase/query"
)

// Each event is projected; then the row and the list are compared.
func TestRowsOfTenants(t *testing.T) {
	readmodeltest.Each(t, func(t *testing.T, db *readmodeltest.Database) {
		reader := queryreader.New(db.DB)
		given := feed.New(t, db.DB, chatrows.Projection, chatrows.Handlers()...)
		acme, other := code(t, "acme"), code(t, "other")
		row := query.Tenant{ID: tenant.IDOf(acme), Code: acme, CreatedAt: given.Now().Add(feed.Tick)}
		var covered []string
		for _, step := range []struct {
			event     tenant.Event
			suspended bool
		}{
			{tenant.Created{Code: acme}, false},
			{tenant.Suspended{Code: acme}, true},
			{tenant.Reactivated{Code: acme}, false},
		} {
			feed.Happened(given, tenantcodec.Events(), es.Tenant(""), row.ID.String(), step.event)
			row.Version, row.UpdatedAt, row.Suspended = row.Version+1, given.Now(), step.suspended
			row.UpdatedBy = executorOf(t, given)
			if row.Version == 1 {
				row.CreatedBy = row.UpdatedBy
			}
			covered = append(covered, sealed.Name(step.event))
			got, err := reader.Tenant(t.Context(), acme)
			if err != nil || got != row {
				t.Errorf("after %T: %+v, %v, want %+v", step.event, got, err, row)
			}
		}
		if _, err := reader.Tenant(t.Context(), other); !errors.Is(err, tenant.ErrTenantNotFound) {
			t.Errorf("a tenant that is not registered: %v", err)
		}
		sealed.Check(t, "events that get into rows", sealed.Types(t, "example.com/threads/domain/tenant", "isEvent"), covered)

		feed.Happened(given, tenantcodec.Events(), es.Tenant(""), tenant.IDOf(other).String(), tenant.Event(tenant.Created{Code: other}))
		first, err := reader.Tenants(t.Context(), query.Range{Limit: 1})
		if err != nil || !first.HasNext || !slices.Equal(first.Items, []query.Tenant{row}) {
			t.Errorf("the first page is %+v, %v", first, err)
		}
		second, err := reader.Tenants(t.Context(), query.Range{Limit: 1, After: row.Position()})
		if err != nil || second.HasNext || len(second.Items) != 1 || second.Items[0].Code != other {
			t.Errorf("the second page is %+v, %v", second, err)
		}
	})
}

// Each row has the metadata of the events that created and last changed it.
func TestAuditOfRows(t *testing.T) {
	readmodeltest.Each(t, func(t *testing.T, db *readmodeltest.Database) {
		given := feed.New(t, db.DB, chatrows.Projection, chatrows.Handlers()...)
		given.Caller = es.Caller{ClientIP: "192.0.2.1", RequestID: "a request", Source: "a test"}
		acme := code(t, "acme")
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

		id := tenant.IDOf(acme).String()
		happened := feed.Happened(given, tenantcodec.Events(), es.Tenant(""), id,
			[]tenant.Event{tenant.Created{Code: acme}, tenant.Suspended{Code: acme}}...)
		check("a tenant", "", happened, func(take func(query.Audit)) error {
			return chatrows.Tenants.Load(t.Context(), db.DB, key(id), "", func(row query.Tenant) { take(row.Audit) })
		})

		id = readmodeltest.NewUser().String()
		happened = feed.Happened(given, accountcodec.Events(), es.Tenant(""), id,
			[]account.Event{account.Registered{Name: writing.RecordedName("Ada")}, account.Renamed{Name: writing.RecordedName("Countess")}}...)
		check("an account", "", happened, func(take func(query.Audit)) error {
			return chatrows.Accounts.Load(t.Context(), db.DB, key(id), "", func(row query.Account) { take(row.Audit) })
		})
	})
}

func executorOf(t *testing.T, given *feed.Feed) ident.UserID {
	t.Helper()
	id, err := ident.Parse[ident.UserAccount](given.Executor())
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func code(t *testing.T, text string) tenant.Code {
	t.Helper()
	parsed, err := tenant.ParseCode(text)
	if err != nil {
		t.Fatal(err)
	}
	return parsed
}
