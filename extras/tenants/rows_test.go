package tenants_test

import (
	"cmp"
	"errors"
	"testing"

	"example.com/threads/es"
	"example.com/threads/extras/tenants"
	"example.com/threads/interfaceadaptor/readmodel/chatrows"
	"example.com/threads/tests/kit/feed"
	"example.com/threads/tests/readmodeltest"
	"example.com/threads/tests/sealed"
	"example.com/threads/usecase/query"
)

// Each event is projected; then the row and the list are compared.
func TestRowsOfTenants(t *testing.T) {
	readmodeltest.Each(t, func(t *testing.T, db *readmodeltest.Database) {
		reader := tenants.TenantResolver{ReadModel: readmodeltest.NewReader(t, db.DB)}
		given := feed.New(t, db.DB, chatrows.Projection, tenants.Handler())
		given.Caller = es.Caller{ClientIP: "192.0.2.1", RequestID: "a request", Source: "a test"}
		other, creator := tenants.Code("other"), ""
		row := tenants.Row{ID: tenants.IDOf(acme), Code: string(acme), CreatedAt: given.Now().Add(feed.Tick)}
		var covered []string
		for _, step := range []struct {
			event     tenants.Event
			suspended bool
		}{
			{tenants.Created{Code: acme}, false},
			{tenants.Suspended{Code: acme}, true},
			{tenants.Reactivated{Code: acme}, false},
		} {
			last := feed.Happened(given, tenants.Events(), es.Tenant(""), row.ID.String(), step.event)[0]
			row.Version, row.UpdatedAt, row.Suspended = row.Version+1, given.Now(), step.suspended
			covered, creator = append(covered, sealed.Name(step.event)), cmp.Or(creator, last.Executor)
			var stored []query.Audit
			err := tenants.Rows.Load(t.Context(), db.DB, [][]string{{"", row.ID.String()}}, "", func(row tenants.Row) { stored = append(stored, row.Audit) })
			if err != nil || len(stored) != 1 {
				t.Fatalf("the rows after %T: %v, %v", step.event, stored, err)
			}
			if by := stored[0]; by.CreatedBy.String() != creator || by.UpdatedBy.String() != last.Executor || by.CreatedIP != last.ClientIP ||
				by.UpdatedIP != last.ClientIP || by.RequestID != last.RequestID || by.Source != last.Source {
				t.Errorf("the audit after %T: %+v", step.event, by)
			}
			row.CreatedBy, row.UpdatedBy = stored[0].CreatedBy, stored[0].UpdatedBy // an API shows no more of it
			got, err := reader.Tenant(t.Context(), acme)
			if err != nil || got != row {
				t.Errorf("after %T: %+v, %v, want %+v", step.event, got, err, row)
			}
		}
		if _, err := reader.Tenant(t.Context(), other); !errors.Is(err, tenants.ErrTenantNotFound) {
			t.Errorf("a tenant that is not registered: %v", err)
		}
		sealed.Check(t, "events that get into rows", sealed.Types(t, "example.com/threads/extras/tenants", "isEvent"), covered)

		feed.Happened(given, tenants.Events(), es.Tenant(""), tenants.IDOf(other).String(), tenants.Event(tenants.Created{Code: other}))
		one := 1
		first, err := reader.Tenants(t.Context(), &one, nil, nil, nil)
		if err != nil || !first.PageInfo.HasNextPage || len(first.Edges) != 1 || first.Edges[0].Node != row {
			t.Fatalf("the first page is %+v, %v", first, err)
		}
		second, err := reader.Tenants(t.Context(), &one, first.PageInfo.EndCursor, nil, nil)
		if err != nil || second.PageInfo.HasNextPage || len(second.Edges) != 1 || second.Edges[0].Node.Code != string(other) {
			t.Errorf("the second page is %+v, %v", second, err)
		}
	}, tenants.Schema())
}
