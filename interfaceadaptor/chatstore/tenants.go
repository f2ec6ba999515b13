package chatstore

import (
	"example.com/threads/domain/tenant"
	"example.com/threads/es"
	"example.com/threads/interfaceadaptor/tenantcodec"
)

// TenantRepository loads and saves registered tenants.
type TenantRepository = es.Repository[tenant.Tenant, tenant.Event]

// NewTenantRepository returns the repository of tenants over gateway.
func NewTenantRepository(gateway es.EventPersistenceGateway, settings es.Settings) *TenantRepository {
	return es.NewRepository(gateway, tenantcodec.Events(), tenantcodec.Snapshots{}, tenant.Tenant.Apply, settings)
}
