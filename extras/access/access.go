// Package access authenticates and authorizes requests, for both APIs and before any use case: [Access] puts a guard
// into the context of each request, which turns it into a principal of interfaceadaptor/admission, or refuses it. What
// an account may do with an aggregate is decided by the domain.
//
// A [Verifier] verifies access tokens: JSON Web Tokens of one OpenID Connect issuer, whose keys it finds by discovery,
// caches and follows when they are rotated. Package devissuer beside it is an issuer for development.
package access

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net"
	"net/http"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"example.com/threads/extras/access/devissuer"
	"example.com/threads/extras/limits"
	"example.com/threads/infrastructure/config"
	"example.com/threads/infrastructure/httpserver"
	"example.com/threads/interfaceadaptor/admission"
)

// Access authenticates and limits the callers of a program. [Open] returns one as its settings say.
type Access struct {
	Settings  Settings // with AUTH=dev, those for its issuer
	DevIssuer string   // the URL of the development issuer that this program runs; empty: it runs none
	// Verify verifies a token and returns its identity; nil: AUTH=none. Its error is an [admission.Refusal].
	Verify func(ctx context.Context, token string) (Identity, error)
	// PerAddress, PerAccount and PerTenant limit requests; nil: no limit.
	PerAddress, PerAccount, PerTenant *limits.Rate
	// Memory is that of undecided requests and of answers that were not received yet, in bytes, of an account, or of an
	// address without one. Live are the open WebSockets and event streams of an account. Uninitialized are the
	// WebSockets of an address that have not sent connection_init. nil: no limit.
	Memory, Live, Uninitialized *limits.Budget

	log      *slog.Logger
	verifier *Verifier                     // nil with AUTH=none
	server   *httpserver.Server            // of the development issuer; nil: this program does not run it
	parts    []func(context.Context) error // that run
}

// OpenWarning is shown in log, health and pages while every caller is admitted.
const OpenWarning = "AUTH=none: everybody is believed to be whoever they say they are. " +
	"Set AUTH=oidc, or AUTH=dev to try it, before others can reach this server."

// Open reads the settings and takes the addresses. With AUTH=dev, a program with BringsIssuer runs the development
// issuer; other programs expect it to be running. [Access.Run] or [Access.Close] ends it.
func Open(ctx context.Context, settings Settings, log *slog.Logger) (*Access, error) {
	a := &Access{
		Settings: settings, log: log,
		PerAddress: limits.NewRate(settings.PerAddress), PerAccount: limits.NewRate(settings.PerAccount), PerTenant: limits.NewRate(settings.PerTenant),
		Memory: limits.NewBudget(settings.MiBInFlight<<20, settings.MiBPerClient<<20),
		Live:   limits.NewBudget(math.MaxInt, settings.Live), Uninitialized: limits.NewBudget(math.MaxInt, settings.Uninitialized),
	}
	switch settings.Mode {
	case None:
		log.WarnContext(ctx, OpenWarning)
		return a, nil
	case Dev:
		a.Settings.Issuer, a.Settings.Audience = "http://"+settings.DevAddress, devissuer.Audience
		a.Settings.AccountClaim, a.Settings.TenantClaim = devissuer.AccountClaim, devissuer.TenantClaim
		if settings.BringsIssuer {
			server, err := httpserver.Listen(ctx, log, "AUTH_DEV_ADDR", settings.DevAddress)
			if err != nil {
				return nil, err
			}
			issuer, err := devissuer.New(server.URL())
			if err != nil {
				return nil, errors.Join(err, server.Close())
			}
			a.server, a.Settings.Issuer, a.DevIssuer = server, server.URL(), server.URL()
			a.parts = append(a.parts, func(ctx context.Context) error { return server.Serve(ctx, issuer.Handler(devissuer.IsLocal)) })
		}
		log.WarnContext(ctx, "AUTH=dev: the issuer on this machine gives every caller a token for any account; it is for development only", "issuer", a.Settings.Issuer)
	}
	a.verifier = NewVerifier(a.Settings, log)
	a.Verify = a.verifier.Verify
	a.parts = append(a.parts, func(ctx context.Context) error { a.verifier.Run(ctx); return nil })
	return a, nil
}

// IsOpen reports whether every caller is trusted (AUTH=none).
func (a *Access) IsOpen() bool { return a.Verify == nil }

// Protect puts a server with an API behind access control and limits, before it serves.
func (a *Access) Protect(server *httpserver.Server) {
	a.ProtectPage(server)
	server.Around = append(server.Around, a.Around)
}

// ProtectPage protects a server that passes requests on to the APIs, which admit them.
func (a *Access) ProtectPage(server *httpserver.Server) {
	server.Prepare = limits.Connections(a.Settings.Connections, a.log)
	server.Around = append(server.Around, a.Settings.Origins.Guard)
	server.Notes["auth"] = a.Settings.Mode
	if a.IsOpen() {
		server.Notes["warning"] = OpenWarning
	} else {
		server.Reports = append(server.Reports, func(_ context.Context, health *httpserver.Health) {
			health.Check("issuer", a.verifier.Ready())
		})
	}
}

// OnlyOperators admits nobody but operators to what does not ask by itself. Without access control it admits everybody.
func (a *Access) OnlyOperators(next http.Handler) http.Handler {
	if a.IsOpen() {
		return next
	}
	return a.Around(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, err := admission.Enter(r, admission.Ask{Rights: []admission.Right{admission.Operate}})
		if err == nil {
			next.ServeHTTP(w, r)
			return
		}
		refused := admission.Forbidden(err.Error())
		_ = errors.As(err, &refused)
		refused.SetHeaders(w.Header())
		httpserver.WriteProblem(w, refused.Status, refused.Code, refused.Detail)
	}))
}

// LimitAddresses refuses requests of an address that sends too many, except those for health. It has its own count: the
// APIs that a program passes requests on to may count the same requests.
func (a *Access) LimitAddresses(next http.Handler) http.Handler {
	perAddress := limits.NewRate(a.Settings.PerAddress)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/health/") || perAddress.Take(network(a.Settings.Proxies.client(r))) {
			next.ServeHTTP(w, r)
			return
		}
		refusal := tooManyOf("address")
		refusal.SetHeaders(w.Header())
		httpserver.WriteProblem(w, refusal.Status, refusal.Code, refusal.Detail)
	})
}

// Run refreshes the issuer's keys, and serves the development issuer, until ctx ends.
func (a *Access) Run(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	for _, part := range a.parts {
		group.Go(func() error { return part(ctx) })
	}
	return group.Wait()
}

// Close releases what Open took. It is for programs that never call Run.
func (a *Access) Close() error {
	if a.server == nil {
		return nil
	}
	return a.server.Close()
}

// The values of AUTH.
const (
	None = "none" // every caller is trusted
	Dev  = "dev"  // the development issuer on a loopback address
	OIDC = "oidc" // an OpenID Connect issuer
)

// Settings are read from the environment.
type Settings struct {
	Mode                      string
	Issuer, Audience          string // with OIDC
	AccountClaim, TenantClaim string // with OIDC
	ClockSkew                 time.Duration
	DevAddress                string // with Dev
	BringsIssuer              bool   // the program runs the issuer of Dev; one of a system does

	PerAddress, PerAccount, PerTenant int // requests per second; 0: no limit
	MiBInFlight, MiBPerClient         int

	Proxies     Proxies
	Origins     Origins
	Connections int
	// WebSockets and event streams: those of an account, and WebSockets of an address before connection_init.
	Live, Uninitialized int
}

const (
	heading         = "Who may do what, and how much (extras/access)"
	usualDevAddress = "127.0.0.1:28084"
	mostRequests    = 1_000_000
)

// ReadSettings reads the settings of a program with an API.
func ReadSettings(r *config.Reader) Settings {
	s := ReadPageSettings(r)
	r = r.Group(heading)
	s.PerAccount = r.Int("RATE_LIMIT_ACCOUNT", 10_000, 0, mostRequests, "requests a second of one account, where tokens name it; 0: any number")
	s.PerTenant = r.Int("RATE_LIMIT_TENANT", 10_000, 0, mostRequests, "requests a second of one tenant, where tokens name it; 0: any number")
	s.MiBInFlight = r.Int("MIB_IN_FLIGHT", 256, 1, 1_000_000,
		"the most memory in MiB for requests that are not decided and answers that are not received; a request beyond it is answered with 429")
	s.MiBPerClient = r.Int("MIB_IN_FLIGHT_PER_CLIENT", 64, 1, 1_000_000, "the part of it in MiB that one account, or one address without a token, may use")
	return s
}

// ReadLive reads the settings of a program with WebSockets and event streams.
func (s *Settings) ReadLive(r *config.Reader) {
	r = r.Group(heading)
	s.Uninitialized = r.Int("WEBSOCKET_INIT_LIMIT", 500, 1, 1_000_000,
		"WebSockets of one client address that have not sent connection_init yet; one more is answered with 429")
	s.Live = r.Int("LIVE_CONNECTION_LIMIT_ACCOUNT", 1000, 1, 1_000_000,
		"WebSockets and event streams of one account open at once; one more is refused")
}

// ReadPageSettings reads the settings of a program that has only the page, and passes requests on to the APIs.
func ReadPageSettings(r *config.Reader) Settings {
	r = r.Group(heading)
	s := Settings{
		Mode:         r.OneOf("AUTH", "how callers are authenticated", None, Dev, OIDC),
		Issuer:       r.URL("AUTH_ISSUER", "required with AUTH=oidc: the issuer of the tokens, such as https://login.example.com/"),
		Audience:     r.String("AUTH_AUDIENCE", "", "required with AUTH=oidc: the audience of the tokens"),
		AccountClaim: r.String("AUTH_ACCOUNT_CLAIM", devissuer.AccountClaim, "claim of the user account, a ULID or UUID"),
		TenantClaim:  r.String("AUTH_TENANT_CLAIM", devissuer.TenantClaim, "claim of the tenant's code; a token without it is of the tenant with the empty code"),
		ClockSkew: r.Duration("AUTH_CLOCK_SKEW", 5*time.Second, 0, 5*time.Minute,
			"maximum difference between the issuer's clock and this one"),
		DevAddress: r.Address("AUTH_DEV_ADDR", usualDevAddress,
			"with AUTH=dev: loopback address of the issuer, which write-api and standalone bring along"),
		PerAddress: r.Int("RATE_LIMIT_ADDRESS", 10_000, 0, mostRequests, "requests a second of one address; 0: any number; one more is answered with 429"),
		Proxies: config.Parsed(r, "TRUSTED_PROXIES", "",
			"networks whose X-Forwarded-For tells the client's address, such as 10.0.0.0/8, fd00::/8", ParseProxies),
		Origins: config.Parsed(r, "ALLOWED_ORIGINS", "",
			"origins whose pages may use the server, beside its own, such as https://app.example.com", ParseOrigins),
		Connections: r.Int("CONNECTION_LIMIT", 20_000, 1, 1_000_000, "connections open at once; one more is answered with 503"),
	}
	if s.Mode == OIDC && (s.Issuer == "" || s.Audience == "") {
		r.Wrong("AUTH is oidc, which needs AUTH_ISSUER and AUTH_AUDIENCE")
	}
	if host, _, err := net.SplitHostPort(s.DevAddress); err == nil && !devissuer.IsLoopback(host) {
		r.Wrong(fmt.Sprintf("AUTH_DEV_ADDR is %q, expected a loopback address such as %s: that issuer gives any token to every caller",
			s.DevAddress, usualDevAddress))
	}
	return s
}
