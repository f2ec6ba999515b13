package access

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"golang.org/x/sync/singleflight"

	"example.com/threads/es"
	"example.com/threads/interfaceadaptor/admission"
)

// Tenants refuses requests of tenants that are suspended or not registered. It caches the registry's answer for a
// second. It is safe for concurrent use.
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

// Admit refuses a tenant that is not active, with an [admission.Refusal]. While the registry is unavailable, it fails
// with the registry's error and admits no tenant.
func (t *Tenants) Admit(ctx context.Context, tenant es.Tenant) error {
	active, err := t.IsActive(ctx, tenant)
	if err == nil && !active {
		err = admission.Forbidden("the tenant is not registered, or is suspended; ask those who run the service")
	}
	return err
}

// IsActive reports whether a tenant is admitted. It fails while the registry is unavailable.
func (t *Tenants) IsActive(ctx context.Context, tenant es.Tenant) (bool, error) {
	if tenant == "" {
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

// around puts a guard into the context of each request that admits active tenants only.
func (t *Tenants) around(log *slog.Logger) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			guard := &tenantGuard{Guard: admission.Of(r), tenants: t, ctx: r.Context(), log: log}
			next.ServeHTTP(w, r.WithContext(admission.With(r.Context(), guard)))
		})
	}
}

// tenantGuard is a guard that asks for the tenant, too.
type tenantGuard struct {
	admission.Guard
	tenants *Tenants
	tenant  es.Tenant
	ctx     context.Context // the request's
	log     *slog.Logger
}

// Enter implements [admission.Guard].
func (g *tenantGuard) Enter(ask admission.Ask) (admission.Principal, error) {
	principal, err := g.Guard.Enter(ask)
	if err != nil || ask.AnyTenant && principal.May(admission.Operate) {
		return principal, err
	}
	g.tenant = principal.Tenant
	return principal, g.admit(g.ctx)
}

// Next implements [admission.Guard].
func (g *tenantGuard) Next(ctx context.Context) error {
	if err := g.Guard.Next(ctx); err != nil {
		return err
	}
	return g.admit(ctx)
}

func (g *tenantGuard) admit(ctx context.Context) error {
	err := g.tenants.Admit(ctx, g.tenant)
	if refused := (*admission.Refusal)(nil); err == nil || errors.As(err, &refused) {
		return err
	}
	g.log.WarnContext(ctx, "the registry of tenants is unavailable", "tenant", g.tenant, "error", err)
	return refusal(http.StatusServiceUnavailable, "store_unavailable", "the registry of tenants does not answer; try again", "Retry-After", "1")
}

const tenantCheck = time.Second // interval of checks for each subscription

// Stay implements [admission.Guard]. While the registry is unavailable, the caller stays.
func (g *tenantGuard) Stay(ctx context.Context) (context.Context, context.CancelFunc) {
	staying, leave := g.Guard.Stay(ctx)
	staying, shutOut := context.WithCancelCause(staying)
	go func() {
		for es.Wait(staying, tenantCheck) == nil {
			err := g.tenants.Admit(staying, g.tenant)
			if refused := (*admission.Refusal)(nil); errors.As(err, &refused) {
				shutOut(err)
			}
		}
	}()
	return staying, func() { shutOut(nil); leave() }
}
