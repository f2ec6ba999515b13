package tenants

import (
	"context"

	"example.com/threads/interfaceadaptor/graphql"
)

// cursors is the kind of cursors in the list of tenants.
const cursors graphql.Cursors = "tenants"

// The schema's connection of tenants and its edges.
type (
	TenantConnection = graphql.Connection[Row]
	TenantEdge       = graphql.Edge[Row]
)

// TenantResolver resolves the field of Query in tenants.graphqls.
type TenantResolver struct{ Registry Reader }

// Tenants resolves Query.tenants.
func (r TenantResolver) Tenants(ctx context.Context, first *int, after *string, last *int, before *string) (TenantConnection, error) {
	if err := graphql.OnlyOperators(ctx); err != nil {
		return TenantConnection{}, err
	}
	asked, err := graphql.EitherWay(cursors, first, after, last, before)
	if err != nil {
		return TenantConnection{}, err
	}
	page, err := r.Registry.Tenants(ctx, asked)
	return graphql.NewConnection(cursors, page, func(row Row) Row { return row }), err
}
