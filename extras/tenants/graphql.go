package tenants

import (
	"context"
	"time"

	"example.com/threads/interfaceadaptor/graphql"
)

// cursors is the kind of cursors in the list of tenants.
const cursors graphql.Cursors = "tenants"

// The schema's connection of tenants and its edges.
type (
	TenantConnection = graphql.Connection[Tenant]
	TenantEdge       = graphql.Edge[Tenant]
)

// Tenant is the schema's Tenant.
type Tenant struct {
	Code      string
	Suspended bool
	Version   int
	CreatedAt time.Time
	UpdatedAt time.Time
}

func shownTenant(r Row) Tenant {
	return Tenant{Code: r.Code.String(), Suspended: r.Suspended, Version: int(r.Version), CreatedAt: r.CreatedAt, UpdatedAt: r.UpdatedAt}
}

// TenantResolver resolves the field of Query in tenants.graphqls.
type TenantResolver struct{ tenants Reader }

// NewResolver returns the resolver over a reader.
func NewResolver(tenants Reader) TenantResolver { return TenantResolver{tenants} }

// Tenants resolves Query.tenants.
func (r TenantResolver) Tenants(ctx context.Context, first *int, after *string, last *int, before *string) (TenantConnection, error) {
	if err := graphql.OnlyOperators(ctx); err != nil {
		return TenantConnection{}, err
	}
	asked, err := graphql.EitherWay(cursors, first, after, last, before)
	if err != nil {
		return TenantConnection{}, err
	}
	page, err := r.tenants.Tenants(ctx, asked)
	return graphql.NewConnection(cursors, page, shownTenant), err
}
