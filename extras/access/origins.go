package access

import (
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/rs/cors"

	"example.com/threads/infrastructure/httpserver"
	"example.com/threads/interfaceadaptor/admission"
)

// Origins are the origins, beside a server's own, whose pages may use the server from a browser.
type Origins []string

// ParseOrigins parses a comma-separated list of origins such as "https://app.example.com, http://localhost:3000".
func ParseOrigins(list string) (origins Origins, err error) {
	for _, entry := range entries(list) {
		origin, err := url.Parse(entry)
		if err != nil || (origin.Scheme != "http" && origin.Scheme != "https") || origin.Host == "" || origin.Scheme+"://"+origin.Host != entry {
			return nil, fmt.Errorf("%q is not an origin, expected a list such as https://app.example.com, http://localhost:3000", entry)
		}
		origins = append(origins, strings.ToLower(entry))
	}
	return origins, nil
}

// Allow reports whether the pages of an origin may use the server.
func (o Origins) Allow(origin string) bool { return slices.Contains(o, strings.ToLower(origin)) }

// Guard answers CORS preflight requests for pages of allowed origins, and refuses requests of other origins' pages that
// would change something. Requests from other clients than browsers pass. Credentials are never allowed: no cookie
// authenticates at the APIs, and the page's sessions are for its own origin alone.
func (o Origins) Guard(next http.Handler) http.Handler {
	crossSite := http.NewCrossOriginProtection()
	for _, origin := range o {
		_ = crossSite.AddTrustedOrigin(origin) // never fails: ParseOrigins has checked it
	}
	crossSite.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		httpserver.WriteProblem(w, http.StatusForbidden, "forbidden", "pages of this origin may not use the server; its operator can add the origin to ALLOWED_ORIGINS")
	}))
	guarded := crossSite.Handler(next)
	if len(o) == 0 {
		return guarded
	}
	return cors.New(cors.Options{
		AllowOriginFunc: o.Allow,
		// What pages may send and read, beside what browsers always allow.
		AllowedHeaders: []string{"Authorization", "Consistency-Token", "Content-Type", "Idempotency-Key", "If-Match",
			"Prefer", "X-Correlation-Id", "X-Executor-Id", "X-Request-Id", "X-Tenant-Code", "traceparent"},
		ExposedHeaders: []string{"Consistency-Token", "ETag", "Idempotent-Replayed", "Preference-Applied", "Retry-After", "WWW-Authenticate", "X-Request-Id"},
		MaxAge:         600, // seconds
	}).Handler(guarded)
}

// Proxies are the networks of trusted proxies, whose X-Forwarded-For is used.
type Proxies []netip.Prefix

// ParseProxies parses a comma-separated list of networks such as "10.0.0.0/8, fd00::/8". It may be empty.
func ParseProxies(list string) (proxies Proxies, err error) {
	for _, entry := range entries(list) {
		network, err := netip.ParsePrefix(entry)
		if err != nil {
			return nil, fmt.Errorf("%q is not a network, expected a list such as 10.0.0.0/8, fd00::/8", entry)
		}
		proxies = append(proxies, network.Masked())
	}
	return proxies, nil
}

// entries returns what is between the commas and spaces of a list.
func entries(list string) []string {
	return strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == ' ' })
}

// client returns the address that the request comes from: that of the connection, or, if that is a trusted proxy's,
// the last address in X-Forwarded-For that is not a trusted proxy's. Addresses further left may be forged by the
// client. It is not valid if the connection has none.
func (p Proxies) client(r *http.Request) netip.Addr {
	address := admission.AddressOf(r.RemoteAddr)
	hops := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for _, hop := range slices.Backward(hops) {
		trusted := slices.ContainsFunc(p, func(network netip.Prefix) bool { return network.Contains(address) })
		hop = strings.TrimSpace(hop)
		before, err := netip.ParseAddr(hop)
		if err != nil { // some proxies add the port
			var withPort netip.AddrPort
			withPort, err = netip.ParseAddrPort(hop)
			before = withPort.Addr()
		}
		if !trusted || err != nil {
			break
		}
		address = before.Unmap().WithZone("")
	}
	return address
}

// network is what is counted together: an IPv4 address, or the /64 of an IPv6 address, usually one customer's network.
func network(address netip.Addr) string {
	if address.Is6() {
		return netip.PrefixFrom(address, 64).Masked().String()
	}
	return address.String()
}
