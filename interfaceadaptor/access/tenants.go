package access

import (
	"context"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"

	"example.com/threads/usecase"
)

// Tenants refuses requests of tenants that are suspended or not registered. It caches the registry's answer for a
// second. A nil *Tenants admits all tenants. It is safe for concurrent use.
type Tenants struct {
	isActive IsActive
	clock    func() time.Time
	asking   singleflight.Group

	mutex sync.Mutex
	known map[usecase.Tenant]verdict
}

// IsActive reports whether a tenant is registered and not suspended, according to the registry. It is never called for
// the tenant with the empty code, which is always active because operators need a tenant before any is registered.
type IsActive func(ctx context.Context, tenant usecase.Tenant) (bool, error)

type verdict struct {
	active bool
	until  time.Time
}

const (
	verdictLife = time.Second
	askTimeout  = 2 * time.Second
	maxVerdicts = 10_000 // then the cache is emptied, because clients can name any number of tenants
)

// NewTenants returns the Tenants of a registry.
func NewTenants(isActive IsActive, clock func() time.Time) *Tenants {
	return &Tenants{isActive: isActive, clock: clock, known: map[usecase.Tenant]verdict{}}
}

// Admit refuses a tenant that is not active, with a [Refusal]. While the registry is unavailable, it fails with the
// registry's error and admits no tenant.
func (t *Tenants) Admit(ctx context.Context, tenant usecase.Tenant) error {
	active, err := t.IsActive(ctx, tenant)
	if err == nil && !active {
		err = forbidden("the tenant is not registered, or is suspended; ask those who run the service", "")
	}
	return err
}

// IsActive reports whether a tenant is admitted. It fails while the registry is unavailable.
func (t *Tenants) IsActive(ctx context.Context, tenant usecase.Tenant) (bool, error) {
	if t == nil || tenant == (usecase.Tenant{}) {
		return true, nil
	}
	t.mutex.Lock()
	known, found := t.known[tenant]
	t.mutex.Unlock()
	if !found || !t.clock().Before(known.until) {
		var err error
		if known, err = t.ask(ctx, tenant); err != nil {
			return false, err
		}
	}
	return known.active, nil
}

// ask queries the registry once for all concurrent calls with the same tenant.
func (t *Tenants) ask(ctx context.Context, tenant usecase.Tenant) (verdict, error) {
	answer, err, _ := t.asking.Do(tenant.String(), func() (any, error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), askTimeout)
		defer cancel()
		until := t.clock().Add(verdictLife)
		active, err := t.isActive(ctx, tenant)
		if err != nil {
			return verdict{}, err
		}
		t.mutex.Lock()
		defer t.mutex.Unlock()
		if len(t.known) >= maxVerdicts {
			clear(t.known)
		}
		t.known[tenant] = verdict{active, until}
		return t.known[tenant], nil
	})
	return answer.(verdict), err
}
