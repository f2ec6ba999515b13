package access

import (
	"context"
	"fmt"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"golang.org/x/sync/singleflight"

	"example.com/threads/es"
)

// Tenants refuses requests of tenants that are suspended or not registered. It caches the registry's answer for a
// second. A nil *Tenants admits all tenants. It is safe for concurrent use.
type Tenants struct {
	isActive IsActive
	clock    func() time.Time
	asking   singleflight.Group
	known    *lru.Cache[es.Tenant, verdict]
}

// IsActive reports whether a tenant is registered and not suspended, according to the registry. It is never called for
// the tenant with the empty code, which is always active because operators need a tenant before any is registered.
type IsActive func(ctx context.Context, tenant es.Tenant) (bool, error)

type verdict struct {
	active bool
	until  time.Time
}

const (
	verdictLife = time.Second
	askTimeout  = 2 * time.Second
	maxVerdicts = 10_000 // because clients can name any number of tenants
)

// NewTenants returns the Tenants of a registry.
func NewTenants(isActive IsActive, clock func() time.Time) *Tenants {
	known, err := lru.New[es.Tenant, verdict](maxVerdicts)
	if err != nil {
		panic(fmt.Sprintf("access: %v", err)) // the size is a constant
	}
	return &Tenants{isActive: isActive, clock: clock, known: known}
}

// Admit refuses a tenant that is not active, with a [Refusal]. While the registry is unavailable, it fails with the
// registry's error and admits no tenant.
func (t *Tenants) Admit(ctx context.Context, tenant es.Tenant) error {
	active, err := t.IsActive(ctx, tenant)
	if err == nil && !active {
		err = forbidden("the tenant is not registered, or is suspended; ask those who run the service", "")
	}
	return err
}

// IsActive reports whether a tenant is admitted. It fails while the registry is unavailable.
func (t *Tenants) IsActive(ctx context.Context, tenant es.Tenant) (bool, error) {
	if t == nil || tenant == (es.Tenant("")) {
		return true, nil
	}
	known, found := t.known.Get(tenant)
	if !found || !t.clock().Before(known.until) {
		var err error
		if known, err = t.ask(ctx, tenant); err != nil {
			return false, err
		}
	}
	return known.active, nil
}

// ask queries the registry once for all concurrent calls with the same tenant.
func (t *Tenants) ask(ctx context.Context, tenant es.Tenant) (verdict, error) {
	answer, err, _ := t.asking.Do(tenant.String(), func() (any, error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), askTimeout)
		defer cancel()
		until := t.clock().Add(verdictLife)
		active, err := t.isActive(ctx, tenant)
		if err != nil {
			return verdict{}, err
		}
		answer := verdict{active, until}
		t.known.Add(tenant, answer)
		return answer, nil
	})
	return answer.(verdict), err
}
