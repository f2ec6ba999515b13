package graphql

import (
	"context"

	"example.com/threads/interfaceadaptor/admission"
	"example.com/threads/interfaceadaptor/graphql/model"
)

// Tenants resolves Query.tenants.
func (r queryResolver) Tenants(ctx context.Context, first *int, after *string, last *int, before *string) (model.TenantConnection, error) {
	if !askerOf(ctx).May(admission.Operate) {
		return model.TenantConnection{}, errOperators
	}
	asked, err := eitherWay(model.TenantList, first, after, last, before)
	if err != nil {
		return model.TenantConnection{}, err
	}
	page, err := r.registry.Tenants(ctx, asked)
	return model.NewConnection(model.TenantList, page, model.NewTenant), err
}
