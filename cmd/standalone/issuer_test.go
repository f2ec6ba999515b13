// extra:whole

package main

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"example.com/threads/extras/access/devissuer"
)

// issuer is an OpenID Connect issuer, with the environment of programs that trust it.
type issuer struct{ *devissuer.Issuer }

func newIssuer(t *testing.T) issuer {
	t.Helper()
	var handler http.Handler
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { handler.ServeHTTP(w, r) }))
	t.Cleanup(server.Close)
	made, err := devissuer.New(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	handler = made.Handler(devissuer.IsLocal)
	return issuer{made}
}

func (i issuer) trusted(more ...string) map[string]string {
	env := map[string]string{"AUTH": "oidc", "AUTH_ISSUER": i.URL, "AUTH_AUDIENCE": devissuer.Audience}
	for n := 0; n < len(more); n += 2 {
		env[more[n]] = more[n+1]
	}
	return env
}

func (i issuer) token(t *testing.T, account, tenant, scope string) string {
	t.Helper()
	return i.tokenFor(t, account, tenant, scope, time.Hour)
}

func (i issuer) tokenFor(t *testing.T, account, tenant, scope string, lifetime time.Duration) string {
	t.Helper()
	token, err := i.Mint(devissuer.Grant{Account: account, Tenant: tenant, Scope: scope, Lifetime: lifetime})
	if err != nil {
		t.Fatal(err)
	}
	return token
}
