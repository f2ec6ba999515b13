package readapi

import (
	"context"
	"errors"

	"example.com/threads/domain/tenant"
	"example.com/threads/usecase"
)

// isActive reports whether a tenant is active, from the read model.
func (s *Server) isActive(ctx context.Context, named usecase.Tenant) (bool, error) {
	code, err := tenant.ParseCode(named.String())
	if err != nil {
		return false, err
	}
	row, err := s.reader.Tenant(ctx, code)
	if errors.Is(err, tenant.ErrTenantNotFound) {
		return false, nil
	}
	return err == nil && !row.Suspended, err
}
