package tenants_test

import (
	"errors"
	"testing"

	"example.com/threads/domain/ident"
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
		acme, other := code(t, "acme"), code(t, "other")
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
			feed.Happened(given, tenants.Events(), es.Tenant(""), row.ID.String(), step.event)
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

// The row has the metadata of the events that created and last changed it.
func TestAuditOfRows(t *testing.T) {
	db := readmodeltest.SQLite(t, tenants.Schema())
	given := feed.New(t, db.DB, chatrows.Projection, tenants.Handler())
	given.Caller = es.Caller{ClientIP: "192.0.2.1", RequestID: "a request", Source: "a test"}
	acme := code(t, "acme")
	happened := feed.Happened(given, tenants.Events(), es.Tenant(""), tenants.IDOf(acme).String(),
		[]tenants.Event{tenants.Created{Code: acme}, tenants.Suspended{Code: acme}}...)
	first, last := happened[0], happened[1]
	var rows []query.Audit
	err := tenants.Rows.Load(t.Context(), db.DB, [][]string{{"", tenants.IDOf(acme).String()}}, "", func(row tenants.Row) { rows = append(rows, row.Audit) })
	if err != nil || len(rows) != 1 {
		t.Fatalf("the rows: %v, %v", rows, err)
	}
	if got := rows[0]; got.CreatedBy.String() != first.Executor || got.CreatedIP != first.ClientIP || got.UpdatedBy.String() != last.Executor ||
		got.UpdatedIP != last.ClientIP || got.RequestID != last.RequestID || got.Source != last.Source {
		t.Errorf("the row has %+v after %+v", got, last)
	}
}

func executorOf(t *testing.T, given *feed.Feed) ident.UserID {
	t.Helper()
	id, err := ident.Parse[ident.UserAccount](given.Executor())
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func code(t *testing.T, text string) tenants.Code {
	t.Helper()
	parsed, err := tenants.ParseCode(text)
	if err != nil {
		t.Fatal(err)
	}
	return parsed
}
