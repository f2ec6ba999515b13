package writeapi

import (
	"context"

	"example.com/threads/domain/tenant"
	"example.com/threads/interfaceadaptor/access"
	"example.com/threads/interfaceadaptor/chatstore"
	"example.com/threads/interfaceadaptor/repository"
	"example.com/threads/usecase"
	"example.com/threads/usecase/chat"
)

// registry reports whether a tenant is active, from the event store.
func (s *Server) registry() access.IsActive {
	tenants := chatstore.NewTenantRepository(s.store.Gateway, repository.Settings{CacheBytes: 1 << 20, Logger: s.log})
	return func(ctx context.Context, named usecase.Tenant) (bool, error) {
		code, err := tenant.ParseCode(named.String())
		if err != nil {
			return false, err
		}
		state, err := tenants.Reload(ctx, chat.TenantKey(code))
		return state.Value.IsActive(), err
	}
}
