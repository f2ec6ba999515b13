package chatrows

import (
	"example.com/threads/domain/tenant"
	"example.com/threads/es/rowstore/table"
	"example.com/threads/usecase/query"
)

// Tenants is the table of registered tenants. tenant_code is the registry's own, and code the registered one.
var Tenants = table.Table[query.Tenant]{
	Name: "tenants", Key: 2,
	Columns: append([]string{"tenant_code", "id", "code", "suspended", "version", "created_at", "updated_at"}, AuditColumns...),
	ID:      func(r *query.Tenant) []string { return []string{r.Registry.String(), r.ID.String()} },
	Fields: func(r *query.Tenant) []any {
		return append([]any{
			table.Tenant(&r.Registry), id(&r.ID), table.Text(&r.Code, tenant.ParseCode), &r.Suspended, &r.Version,
			table.Time(&r.CreatedAt), table.Time(&r.UpdatedAt),
		}, AuditFields(&r.Audit)...)
	},
}
