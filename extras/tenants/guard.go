package tenants

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"golang.org/x/sync/singleflight"

	"example.com/threads/es"
	"example.com/threads/infrastructure/config"
	"example.com/threads/interfaceadaptor/admission"
)

// Settings are read from the environment.
type Settings struct {
	Registered bool // only active tenants are admitted
}

// ReadSettings reads which tenants a program admits.
func ReadSettings(r *config.Reader) Settings {
	r = r.Group("Registry of tenants (extras/tenants)")
	return Settings{r.OneOf("TENANTS", "which tenants are let in: all, or those that are registered and not suspended", "open", "registered") == "registered"}
}

// IsActive reports whether a tenant is registered and not suspended.
type IsActive = func(ctx context.Context, named es.Tenant) (bool, error)

// Active returns isActive with a cache; without TENANTS=registered, all tenants are active.
func (s Settings) Active(isActive IsActive) IsActive {
	if !s.Registered {
		return func(context.Context, es.Tenant) (bool, error) { return true, nil }
	}
	return newRegistry(isActive, time.Now).isActive
}

// Middleware admits active tenants only: it wraps the guard of each request. Without TENANTS=registered, it does
// nothing.
func (s Settings) Middleware(isActive IsActive, log *slog.Logger) func(http.Handler) http.Handler {
	registry := newRegistry(isActive, time.Now)
	return func(next http.Handler) http.Handler {
		if !s.Registered {
			return next
		}
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			guard := &guard{Guard: admission.Of(r), registry: registry, ctx: r.Context(), log: log}
			next.ServeHTTP(w, r.WithContext(admission.With(r.Context(), guard)))
		})
	}
}

// registry caches the answers of the registry of tenants for a second. It is safe for concurrent use.
type registry struct {
	ask    IsActive
	clock  func() time.Time
	asking singleflight.Group
	known  *lru.Cache[es.Tenant, verdict]
}

type verdict struct {
	active bool
	until  time.Time
}

const (
	verdictLife = time.Second
	askTimeout  = 2 * time.Second
	maxVerdicts = 10_000 // because clients can name any number of tenants
)

func newRegistry(ask IsActive, clock func() time.Time) *registry {
	known, _ := lru.New[es.Tenant, verdict](maxVerdicts) // fails only for a size below 1
	return &registry{ask: ask, clock: clock, known: known}
}

// isActive reports whether a tenant is active. Concurrent calls with the same tenant ask once. The tenant with the
// empty code is always active, because operators need a tenant before any is registered.
func (r *registry) isActive(ctx context.Context, tenant es.Tenant) (bool, error) {
	if tenant == "" {
		return true, nil
	}
	active, err, _ := r.asking.Do(tenant.String(), func() (any, error) {
		if known, found := r.known.Get(tenant); found && r.clock().Before(known.until) {
			return known.active, nil
		}
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), askTimeout)
		defer cancel()
		until := r.clock().Add(verdictLife)
		active, err := r.ask(ctx, tenant)
		if err == nil {
			r.known.Add(tenant, verdict{active, until})
		}
		return active, err
	})
	return active.(bool), err
}

// guard is an [admission.Guard] that asks for the tenant, too.
type guard struct {
	admission.Guard
	registry *registry
	tenant   es.Tenant
	ctx      context.Context // the request's
	log      *slog.Logger
}

func (g *guard) Enter(ask admission.Ask) (admission.Principal, error) {
	principal, err := g.Guard.Enter(ask)
	if err != nil || ask.AnyTenant && principal.May(admission.Operate) {
		return principal, err
	}
	g.tenant = principal.Tenant
	return principal, g.admit(g.ctx)
}

func (g *guard) Next(ctx context.Context) error {
	if err := g.Guard.Next(ctx); err != nil {
		return err
	}
	return g.admit(ctx)
}

var errInactive = admission.Forbidden("the tenant is not registered, or is suspended; ask those who run the service")

// admit refuses a tenant that is not active. While the registry is unavailable, it admits no tenant.
func (g *guard) admit(ctx context.Context) error {
	active, err := g.registry.isActive(ctx, g.tenant)
	switch {
	case err != nil:
		g.log.WarnContext(ctx, "the registry of tenants is unavailable", "tenant", g.tenant, "error", err)
		return &admission.Refusal{
			Status: http.StatusServiceUnavailable, Code: "store_unavailable", Detail: "the registry of tenants does not answer; try again",
			Header: http.Header{"Retry-After": {"1"}},
		}
	case !active:
		return errInactive
	}
	return nil
}

const tenantCheck = time.Second // interval of checks for each subscription

// Stay implements [admission.Guard]. While the registry is unavailable, the caller stays.
func (g *guard) Stay(ctx context.Context) (context.Context, context.CancelFunc) {
	staying, leave := g.Guard.Stay(ctx)
	staying, shutOut := context.WithCancelCause(staying)
	go func() {
		for es.Wait(staying, tenantCheck) == nil {
			if active, err := g.registry.isActive(staying, g.tenant); err == nil && !active {
				shutOut(errInactive)
			}
		}
	}()
	return staying, func() { shutOut(nil); leave() }
}
