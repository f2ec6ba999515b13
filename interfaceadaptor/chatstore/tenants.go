package chatstore

import (
	"example.com/threads/domain/tenant"
	"example.com/threads/es/eventstore"
	"example.com/threads/es/repository"
	"example.com/threads/interfaceadaptor/tenantcodec"
)

// TenantRepository loads and saves registered tenants.
type TenantRepository = repository.Repository[tenant.Tenant, tenant.Event]

// NewTenantRepository returns the repository of tenants over gateway.
func NewTenantRepository(gateway eventstore.EventPersistenceGateway, settings repository.Settings) *TenantRepository {
	return repository.New(gateway, tenantcodec.Events(), tenantcodec.Snapshots{}, tenant.Tenant.Apply, settings)
}
