package access

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"example.com/threads/extras/access/devissuer"
	"example.com/threads/extras/limits"
	"example.com/threads/infrastructure/httpserver"
)

// Access authenticates and limits the callers of a program.
type Access struct {
	Gate    *Gate
	Origins httpserver.Origins
	// Notes are shown in health responses, Checks decide on readiness.
	Notes  httpserver.Notes
	Checks []httpserver.Check

	log                 *slog.Logger
	settings            Settings
	issuerURL, audience string
	verifier            *Verifier          // nil with AUTH=none
	server              *httpserver.Server // the development issuer; nil: this program does not run it
	issuer              http.Handler
}

// Open reads the settings and takes the addresses. With AUTH=dev, a program with bringsIssuer runs the development
// issuer; other programs expect it to be running. [Access.Run] or [Access.Close] ends it.
func Open(ctx context.Context, settings Settings, bringsIssuer bool, log *slog.Logger) (*Access, error) {
	a := &Access{
		Origins: settings.Origins, log: log, settings: settings, Notes: httpserver.Notes{"auth": settings.Mode},
		Gate: &Gate{
			PerAddress: counter(settings.PerAddress), PerAccount: counter(settings.PerAccount), PerTenant: counter(settings.PerTenant),
			Shares: limits.NewBudget(settings.MiBInFlight<<20, settings.MiBPerClient<<20), Proxies: settings.Proxies,
		},
	}
	verified := TokenSettings{
		Issuer: settings.Issuer, Audience: settings.Audience,
		AccountClaim: settings.AccountClaim, TenantClaim: settings.TenantClaim, ClockSkew: settings.ClockSkew, Log: log,
	}
	switch settings.Mode {
	case None:
		a.Notes["warning"] = OpenWarning
		log.WarnContext(ctx, OpenWarning)
		return a, nil
	case Dev:
		verified.Issuer, verified.Audience = "http://"+settings.DevAddress, devissuer.Audience
		verified.AccountClaim, verified.TenantClaim = devissuer.AccountClaim, devissuer.TenantClaim
		if bringsIssuer {
			if err := a.bringIssuer(ctx, log); err != nil {
				return nil, err
			}
			verified.Issuer = a.server.URL()
		}
		log.WarnContext(ctx, "AUTH=dev: the issuer on this machine gives every caller a token for any account; it is for development only", "issuer", verified.Issuer)
	}
	a.verifier = NewVerifier(verified)
	a.issuerURL, a.audience = verified.Issuer, verified.Audience
	a.Gate.Verify = a.verify
	a.Checks = []httpserver.Check{{Name: "issuer", Run: a.verifier.Ready}}
	return a, nil
}

func (a *Access) bringIssuer(ctx context.Context, log *slog.Logger) error {
	server, err := httpserver.Listen(ctx, log, "AUTH_DEV_ADDR", a.settings.DevAddress)
	if err != nil {
		return err
	}
	issuer, err := devissuer.New(server.URL())
	if err != nil {
		return errors.Join(err, server.Close())
	}
	a.server, a.issuer = server, issuer.Handler()
	return nil
}

// DevIssuer is the URL of the development issuer that this program runs; empty: it runs none.
func (a *Access) DevIssuer() string {
	if a.server == nil {
		return ""
	}
	return a.server.URL()
}

// Issuer returns the issuer and the audience that tokens must have; both are empty with AUTH=none.
func (a *Access) Issuer() (url, audience string) { return a.issuerURL, a.audience }

// IsOpen reports whether every caller is trusted (AUTH=none).
func (a *Access) IsOpen() bool { return a.verifier == nil }

// Serve serves an API behind access control and limits until ctx ends.
func (a *Access) Serve(ctx context.Context, server *httpserver.Server, handler http.Handler) error {
	server.Prepare = limits.Connections(a.settings.Connections, a.log)
	return server.Serve(ctx, a.Origins.Guard(handler))
}

// LimitAddresses refuses requests of an address that sends too many, except those for health. It has its own count: the
// APIs that a program passes requests on to may count the same requests by the gate.
func (a *Access) LimitAddresses(next http.Handler) http.Handler {
	gate := &Gate{PerAddress: counter(a.settings.PerAddress), Proxies: a.settings.Proxies}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var refusal *Refusal
		if !strings.HasPrefix(r.URL.Path, "/health/") && errors.As(gate.Knock(w.Header(), r), &refusal) {
			refusal.SetHeaders(w.Header())
			httpserver.WriteProblem(w, refusal.Status(), "too_many_requests", refusal.Detail)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// Run refreshes the issuer's keys, and serves the development issuer, until ctx ends.
func (a *Access) Run(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	if a.server != nil {
		group.Go(func() error { return a.server.Serve(ctx, a.issuer) })
	}
	if a.verifier != nil {
		group.Go(func() error { a.verifier.Run(ctx); return nil })
	}
	return group.Wait()
}

// RunWith runs a program's server beside [Access.Run], and logs its URL and its end.
func (a *Access) RunWith(ctx context.Context, log *slog.Logger, url string, run func(context.Context) error) error {
	log.InfoContext(ctx, "listening", "url", url)
	group, serving := errgroup.WithContext(ctx)
	group.Go(func() error { return a.Run(serving) })
	group.Go(func() error { return run(serving) })
	err := group.Wait()
	log.InfoContext(ctx, "stopped")
	return err
}

// Close releases what Open took. It is for programs that never call Run.
func (a *Access) Close() error {
	if a.server == nil {
		return nil
	}
	return a.server.Close()
}

// verify implements the gate's port with the verifier.
func (a *Access) verify(ctx context.Context, text string) (Principal, error) {
	token, err := a.verifier.Verify(ctx, text)
	var rejected *InvalidError
	switch {
	case errors.As(err, &rejected):
		return Principal{}, Unauthenticated(rejected.Reason)
	case err != nil:
		return Principal{}, Unavailable("the token can't be verified now, because its issuer does not answer; try again later")
	}
	return NewPrincipal(token.Account, token.Tenant, token.Scopes, token.Expires)
}

// Tenants returns the gate that admits registered tenants only; nil: all tenants are admitted.
func (a *Access) Tenants(isActive IsActive) *Tenants {
	if !a.settings.Registered {
		return nil
	}
	return NewTenants(isActive, time.Now)
}

// counter returns the gate's port to a rate limit; nil: no limit.
func counter(perSecond int) Take {
	if perSecond == 0 {
		return nil
	}
	return limits.NewRate(perSecond).Take
}
