package queryreader

import (
	"context"

	"example.com/threads/domain/tenant"
	"example.com/threads/usecase/query"
)

var allTenants = List{Columns: tenants.List("r"), From: `FROM tenants r WHERE r.tenant_code = ?`, At: "r.created_at", ID: "r.id"}

// Tenants implements [query.TenantReader].
func (r *Reader) Tenants(ctx context.Context, page query.Range) (query.Page[query.Tenant], error) {
	return Page(ctx, r, tenants, allTenants, page, "")
}

// Tenant implements [query.TenantReader].
func (r *Reader) Tenant(ctx context.Context, code tenant.Code) (query.Tenant, error) {
	return One(ctx, r, tenants, tenant.ErrTenantNotFound,
		`SELECT `+tenants.List("r")+` FROM tenants r WHERE r.tenant_code = ? AND r.id = ?`, "", tenant.IDOf(code).String())
}
