package queryreader

import (
	"context"

	"example.com/threads/domain/tenant"
	"example.com/threads/usecase/query"
)

var allTenants = sortedList{
	columns: tenants.List("r"), from: `FROM tenants r WHERE r.tenant_code = ?`, at: "r.created_at", id: "r.id",
}

// Tenants implements [query.TenantReader].
func (r *Reader) Tenants(ctx context.Context, page query.Range) (query.Page[query.Tenant], error) {
	var s unionStatement
	allTenants.add(&s, page, "")
	found := newFound[query.Tenant](page.Limit)
	err := run(ctx, r, &s, tenants, found.take)
	return found.page(allTenants, page), err
}

// Tenant implements [query.TenantReader].
func (r *Reader) Tenant(ctx context.Context, code tenant.Code) (query.Tenant, error) {
	return row(ctx, r, tenants, tenant.ErrTenantNotFound,
		`SELECT `+tenants.List("r")+` FROM tenants r WHERE r.tenant_code = ? AND r.id = ?`, "", tenant.IDOf(code).String())
}
