package access

import (
	"context"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"

	"example.com/threads/usecase"
)

// Tenants refuses requests of tenants that are not registered or suspended. It remembers what the registry says of a
// tenant for a second. A nil *Tenants lets all tenants in. It is safe for concurrent use.
type Tenants struct {
	isActive IsActive
	clock    func() time.Time
	asking   singleflight.Group

	mutex sync.Mutex
	known map[usecase.Tenant]verdict
}

// IsActive asks the registry whether a tenant is registered and not suspended. It is not asked about the tenant with
// the empty code, which is always active: operators need no tenant to be registered.
type IsActive func(ctx context.Context, tenant usecase.Tenant) (bool, error)

type verdict struct {
	active bool
	until  time.Time
}

const (
	verdictLife = time.Second
	askTimeout  = 2 * time.Second
	maxVerdicts = 10_000 // then all are forgotten: strangers can name any number of tenants
)

// NewTenants returns the Tenants of a registry.
func NewTenants(isActive IsActive, clock func() time.Time) *Tenants {
	return &Tenants{isActive: isActive, clock: clock, known: map[usecase.Tenant]verdict{}}
}

// Admit refuses a tenant that is not active, with a [Refusal]. When the registry can't be asked, it fails with the
// registry's error: nobody is let in unseen.
func (t *Tenants) Admit(ctx context.Context, tenant usecase.Tenant) error {
	if t == nil || tenant == (usecase.Tenant{}) {
		return nil
	}
	t.mutex.Lock()
	known, found := t.known[tenant]
	t.mutex.Unlock()
	if !found || !t.clock().Before(known.until) {
		var err error
		if known, err = t.ask(ctx, tenant); err != nil {
			return err
		}
	}
	if !known.active {
		return forbidden("the tenant is not registered, or is suspended; ask those who run the service", "")
	}
	return nil
}

// ask asks the registry, once for all that wait for the same tenant.
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
