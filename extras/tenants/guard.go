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
	r = r.Group("Tenants (extras/tenants)")
	return Settings{r.OneOf("TENANTS", "which tenants are let in: all, or those that are registered and not suspended", "open", "registered") == "registered"}
}

// IsActive reports whether a tenant is registered and not suspended.
type IsActive = func(ctx context.Context, named es.Tenant) (bool, error)

const (
	verdictLife = time.Second
	askTimeout  = 2 * time.Second
	tenantCheck = time.Second // interval of checks for each subscription
	maxVerdicts = 10_000      // because clients can name any number of tenants
)

// Active returns isActive with a cache: it asks for a tenant once a second. The tenant with the empty code is always
// active, because operators need a tenant before any is registered. Without TENANTS=registered, all are.
func (s Settings) Active(isActive IsActive) IsActive {
	type verdict struct {
		active bool
		until  time.Time
	}
	var asking singleflight.Group
	known, _ := lru.New[es.Tenant, verdict](maxVerdicts) // fails only for a size below 1
	return func(ctx context.Context, tenant es.Tenant) (bool, error) {
		if !s.Registered || tenant == "" {
			return true, nil
		}
		active, err, _ := asking.Do(tenant.String(), func() (any, error) {
			if last, found := known.Get(tenant); found && time.Now().Before(last.until) {
				return last.active, nil
			}
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), askTimeout)
			defer cancel()
			until := time.Now().Add(verdictLife)
			active, err := isActive(ctx, tenant)
			if err == nil {
				known.Add(tenant, verdict{active, until})
			}
			return active, err
		})
		return active.(bool), err
	}
}

// Middleware wraps the guard of each request to admit active tenants only; without TENANTS=registered, all.
func (s Settings) Middleware(isActive IsActive, log *slog.Logger) func(http.Handler) http.Handler {
	isActive = s.Active(isActive)
	return func(next http.Handler) http.Handler {
		if !s.Registered {
			return next
		}
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			guard := &guard{Guard: admission.Of(r), isActive: isActive, ctx: r.Context(), log: log}
			next.ServeHTTP(w, r.WithContext(admission.With(r.Context(), guard)))
		})
	}
}

// guard is an [admission.Guard] that asks for the tenant, too.
type guard struct {
	admission.Guard
	isActive IsActive
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
	active, err := g.isActive(ctx, g.tenant)
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

// Stay implements [admission.Guard]. While the registry is unavailable, the caller stays.
func (g *guard) Stay(ctx context.Context) (context.Context, context.CancelFunc) {
	staying, leave := g.Guard.Stay(ctx)
	staying, shutOut := context.WithCancelCause(staying)
	go func() {
		for es.Wait(staying, tenantCheck) == nil {
			if active, err := g.isActive(staying, g.tenant); err == nil && !active {
				shutOut(errInactive)
			}
		}
	}()
	return staying, func() { shutOut(nil); leave() }
}
