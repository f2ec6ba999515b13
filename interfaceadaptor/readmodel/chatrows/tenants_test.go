package chatrows_test

import (
	"errors"
	"slices"
	"testing"

	"example.com/threads/domain/tenant"
	"example.com/threads/es"
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
		reader, err := queryreader.New(db.DB)
		if err != nil {
			t.Fatal(err)
		}
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

func code(t *testing.T, text string) tenant.Code {
	t.Helper()
	parsed, err := tenant.ParseCode(text)
	if err != nil {
		t.Fatal(err)
	}
	return parsed
}
