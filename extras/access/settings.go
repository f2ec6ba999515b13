package access

import (
	"fmt"
	"net"
	"time"

	"example.com/threads/extras/access/devissuer"
	"example.com/threads/infrastructure/config"
)

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

	PerAddress, PerAccount, PerTenant int // requests per second; 0: no limit
	MiBInFlight, MiBPerClient         int

	Proxies     Proxies
	Origins     Origins
	Connections int
	// WebSockets and event streams: those of an account, and WebSockets of an address before connection_init.
	Live, Uninitialized int
}

const (
	heading      = "Who may do what, and how much (extras/access)"
	mostRequests = 1_000_000
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
		DevAddress: loopback(r, "AUTH_DEV_ADDR", "127.0.0.1:28084",
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
	return s
}

// loopback reads an address that can only be reached from this machine.
func loopback(r *config.Reader, name, fallback, help string) string {
	address := r.Address(name, fallback, help)
	if host, _, err := net.SplitHostPort(address); err == nil && !devissuer.IsLoopback(host) {
		r.Wrong(fmt.Sprintf("%s is %q, expected a loopback address such as %s: that issuer gives any token to every caller", name, address, fallback))
	}
	return address
}
