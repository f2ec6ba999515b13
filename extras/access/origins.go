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

// Headers that pages of other origins may send and read, beside those that browsers always allow.
var (
	corsSent = []string{"Authorization", "Consistency-Token", "Content-Type", "Idempotency-Key", "If-Match", "X-Correlation-Id", "X-Request-Id", "X-Tenant-Code", "traceparent"}
	corsSeen = []string{"Consistency-Token", "ETag", "Idempotent-Replayed", "Retry-After", "WWW-Authenticate", "X-Request-Id"}
)

const corsMaxAge = 600 // seconds

// Guard answers CORS preflight requests for pages of allowed origins, and refuses requests of other origins' pages that
// would change something. Requests from other clients than browsers pass. Credentials are never allowed: no cookie
// authenticates here.
func (o Origins) Guard(next http.Handler) http.Handler {
	crossSite := http.NewCrossOriginProtection()
	for _, origin := range o {
		if err := crossSite.AddTrustedOrigin(origin); err != nil {
			panic(fmt.Sprintf("access: an origin that ParseOrigins let in: %v", err))
		}
	}
	crossSite.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		httpserver.WriteProblem(w, http.StatusForbidden, "forbidden", "pages of this origin may not use the server; its operator can add the origin to ALLOWED_ORIGINS")
	}))
	guarded := crossSite.Handler(next)
	if len(o) == 0 {
		return guarded
	}
	return cors.New(cors.Options{
		AllowOriginFunc: o.Allow, AllowedHeaders: corsSent, ExposedHeaders: corsSeen, MaxAge: corsMaxAge,
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
	if !p.contain(address) {
		return address
	}
	hops := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for _, hop := range slices.Backward(hops) {
		before, err := netip.ParseAddr(strings.TrimSpace(hop))
		if !p.contain(address) || err != nil {
			break
		}
		address = before.Unmap().WithZone("")
	}
	return address
}

func (p Proxies) contain(address netip.Addr) bool {
	return slices.ContainsFunc(p, func(n netip.Prefix) bool { return n.Contains(address) })
}

// network is the network whose requests are counted together: an IPv4 address, or the /64 of an IPv6 address, the usual
// size of one customer's network.
func network(address netip.Addr) string {
	switch {
	case !address.IsValid():
		return ""
	case address.Is6():
		return netip.PrefixFrom(address, 64).Masked().String()
	}
	return address.String()
}
