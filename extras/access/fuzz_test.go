package access

import (
	"context"
	"net/http"
	"net/netip"
	"strings"
	"testing"
)

func FuzzEnter(f *testing.F) {
	for _, seed := range []string{"Bearer good", "bearer good", "Bearer  good", "Basic good", "Bearer", "Bearer good good", ""} {
		f.Add(seed)
	}
	gate := &Gate{Verify: func(_ context.Context, token string) (Principal, error) {
		if strings.ContainsAny(token, " \t\r\n,\"") {
			panic("a token that can be none: " + token)
		}
		return Principal{}, nil
	}}
	f.Fuzz(func(t *testing.T, authorization string) {
		header := http.Header{"Authorization": {authorization}}
		_, err := gate.Enter(http.Header{}, &http.Request{Header: header, RemoteAddr: "192.0.2.1:5000"})
		if _, refused := err.(*Refusal); err != nil && !refused { //nolint:errorlint // refusals are never wrapped
			t.Errorf("%q: %v", authorization, err)
		}
	})
}

func FuzzClientIP(f *testing.F) {
	for _, seed := range []string{"198.51.100.9", "1.2.3.4, 198.51.100.9", "2001:db8::1%eth0", "::ffff:192.0.2.1", ", ,"} {
		f.Add(seed)
	}
	proxies, err := ParseProxies("10.0.0.0/8")
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, forwarded string) {
		ip := proxies.ClientIP(&http.Request{RemoteAddr: "10.0.0.7:5000", Header: http.Header{"X-Forwarded-For": {forwarded}}})
		if _, err := netip.ParseAddr(ip); err != nil {
			t.Errorf("%q is no address: %v", ip, err)
		}
	})
}
