package access

import (
	"fmt"
	"net/http"
	"net/netip"
	"slices"
	"strings"

	"example.com/threads/interfaceadaptor/admission"
)

// Proxies are the networks of trusted proxies, whose X-Forwarded-For is used. The zero value trusts none.
type Proxies struct{ networks []netip.Prefix }

// ParseProxies parses a comma-separated list of networks such as "10.0.0.0/8, fd00::/8". It may be empty.
func ParseProxies(list string) (Proxies, error) {
	var proxies Proxies
	for entry := range strings.SplitSeq(list, ",") {
		if entry = strings.TrimSpace(entry); entry == "" {
			continue
		}
		network, err := netip.ParsePrefix(entry)
		if err != nil {
			return Proxies{}, fmt.Errorf("%q is not a network, expected a list such as 10.0.0.0/8, fd00::/8", entry)
		}
		proxies.networks = append(proxies.networks, network.Masked())
	}
	return proxies, nil
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
	return slices.ContainsFunc(p.networks, func(n netip.Prefix) bool { return n.Contains(address) })
}
