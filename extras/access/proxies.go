package access

import (
	"fmt"
	"net/http"
	"net/netip"
	"slices"
	"strings"

	"example.com/threads/interfaceadaptor/admission"
)

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
