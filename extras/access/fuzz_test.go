package access

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	"example.com/threads/interfaceadaptor/admission"
)

func FuzzEnter(f *testing.F) {
	for _, seed := range []string{"Bearer good", "bearer good", "Bearer  good", "Basic good", "Bearer", "Bearer good good", ""} {
		f.Add(seed)
	}
	gate := &Access{Verify: func(_ context.Context, token string) (Identity, error) {
		if strings.ContainsAny(token, " \t\r\n,\"") {
			panic("a token that can be none: " + token)
		}
		return Identity{}, nil
	}}
	f.Fuzz(func(t *testing.T, authorization string) {
		request := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)
		request.Header = http.Header{"Authorization": {authorization}}
		gate.Around(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			for _, ask := range []admission.Ask{{}, {Stage: admission.Init, Payload: map[string]any{"Authorization": authorization}}} {
				_, err := admission.Of(r).Enter(ask)
				if _, refused := err.(*admission.Refusal); err != nil && !refused { //nolint:errorlint // refusals are never wrapped
					t.Errorf("%q: %v", authorization, err)
				}
			}
		})).ServeHTTP(httptest.NewRecorder(), request)
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
		ip := proxies.client(&http.Request{RemoteAddr: "10.0.0.7:5000", Header: http.Header{"X-Forwarded-For": {forwarded}}})
		if _, err := netip.ParseAddr(ip.String()); err != nil {
			t.Errorf("%q is no address: %v", ip, err)
		}
	})
}
