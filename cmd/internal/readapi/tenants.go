package readapi

import (
	"context"
	"errors"

	"example.com/threads/domain/tenant"
	"example.com/threads/usecase"
)

// isActive asks the read model whether a tenant is active: queries need nothing else.
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
