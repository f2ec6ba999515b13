package model

import (
	"time"

	"example.com/threads/extras/tenants"
)

// The schema's connection of tenants and its edges.
type (
	TenantConnection = Connection[Tenant]
	TenantEdge       = Edge[Tenant]
)

// Tenant is the schema's Tenant.
type Tenant struct {
	Code      string
	Suspended bool
	Version   int
	CreatedAt time.Time
	UpdatedAt time.Time
}

// NewTenant converts a tenant.
func NewTenant(r tenants.Row) Tenant {
	return Tenant{Code: r.Code.String(), Suspended: r.Suspended, Version: int(r.Version), CreatedAt: r.CreatedAt, UpdatedAt: r.UpdatedAt}
}
