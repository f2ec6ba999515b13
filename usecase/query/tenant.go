package query

import (
	"cmp"
	"context"
	"time"

	"example.com/threads/domain/tenant"
	"example.com/threads/es"
)

// Tenant is the row of a registered tenant. Lists of tenants are in the order of registration.
type Tenant struct {
	Registry  es.Tenant // the row's own tenant, which has the empty code
	ID        tenant.ID
	Code      tenant.Code
	Suspended bool
	Version   uint64 // the seq_nr of the last event in the row
	CreatedAt time.Time
	UpdatedAt time.Time
	Audit
}

// Position returns the tenant's position in the list of tenants; it never changes.
func (t Tenant) Position() Position { return Position{At: t.CreatedAt.UnixMicro(), ID: t.ID.String()} }

// Compare orders tenants by position.
func (t Tenant) Compare(other Tenant) int {
	return cmp.Or(t.CreatedAt.Compare(other.CreatedAt), t.ID.Compare(other.ID))
}

// TenantReader reads registered tenants.
type TenantReader interface {
	// Tenants reads a page of all tenants, including suspended ones. The caller checks that the viewer is an operator.
	Tenants(ctx context.Context, page Range) (Page[Tenant], error)
	// Tenant returns a tenant, or [tenant.ErrTenantNotFound].
	Tenant(ctx context.Context, code tenant.Code) (Tenant, error)
}
