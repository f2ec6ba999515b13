package graphql

import (
	"context"

	"example.com/threads/extras/access"
	"example.com/threads/interfaceadaptor/graphql/model"
)

// Tenants resolves Query.tenants.
func (r queryResolver) Tenants(ctx context.Context, first *int, after *string, last *int, before *string) (model.TenantConnection, error) {
	if err := askerOf(ctx).principal.Needs(access.Operate); err != nil {
		return model.TenantConnection{}, err
	}
	asked, err := eitherWay(model.TenantList, first, after, last, before)
	if err != nil {
		return model.TenantConnection{}, err
	}
	page, err := r.queries.Tenants(ctx, asked)
	return model.NewConnection(model.TenantList, page, model.NewTenant), err
}
