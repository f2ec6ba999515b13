// Package devissuer is an OpenID Connect issuer for development: it issues tokens without authentication. Therefore
// serve it on the loopback interface only. It rejects requests to other host names, so that no web page can reach it by
// its own name (DNS rebinding).
//
// It creates its key at the start: tokens of earlier runs are invalid.
package devissuer

import (
	"cmp"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"fmt"
	"maps"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"

	"example.com/threads/infrastructure/httpserver"
)

const (
	Audience = "threads" // of the tokens

	// The claims that identify the account and the tenant.
	AccountClaim = "account_id"
	TenantClaim  = "tenant"

	usualLifetime = 12 * time.Hour
	usualScope    = "threads:read threads:write"
)

// Grant is the content of a token.
type Grant struct {
	Account  string
	Tenant   string        // empty: no claim
	Scope    string        // scopes with spaces between them
	Lifetime time.Duration // zero: twelve hours
}

// Issuer signs tokens. It is safe for concurrent use.
type Issuer struct {
	URL    string
	key    jose.JSONWebKey
	signer jose.Signer
}

// New returns an issuer with a new key. url is where its handler is served.
func New(url string) (*Issuer, error) {
	key, _ := ecdsa.GenerateKey(elliptic.P256(), rand.Reader) // fails only for another reader
	private := jose.JSONWebKey{Key: key, KeyID: rand.Text(), Algorithm: string(jose.ES256), Use: "sig"}
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.ES256, Key: private}, (&jose.SignerOptions{}).WithType("at+jwt"))
	return &Issuer{url, private, signer}, err
}

// Mint signs a token.
func (i *Issuer) Mint(grant Grant) (string, error) {
	now := time.Now()
	private := map[string]any{AccountClaim: grant.Account, "scope": grant.Scope}
	if grant.Tenant != "" {
		private[TenantClaim] = grant.Tenant
	}
	return i.Sign(jwt.Claims{
		Issuer: i.URL, Subject: grant.Account, Audience: jwt.Audience{Audience}, ID: rand.Text(),
		IssuedAt: jwt.NewNumericDate(now), Expiry: jwt.NewNumericDate(now.Add(cmp.Or(grant.Lifetime, usualLifetime))),
	}, private)
}

// Sign signs a token with these claims, unchecked.
func (i *Issuer) Sign(claims ...any) (string, error) {
	builder := jwt.Signed(i.signer)
	for _, part := range claims {
		builder = builder.Claims(part)
	}
	return builder.Serialize()
}

// users are for trying things out; ada is also an operator.
var users = map[string]Grant{
	"ada": {Account: "01ARZ3NDEKTSV4RRFFQ69G5FAV", Scope: usualScope + " threads:operate"},
	"bob": {Account: "01BX5ZZKBKACTAV9WEVGEMMVRZ", Scope: usualScope},
}

func Users() []string              { return slices.Sorted(maps.Keys(users)) }
func AccountOf(user string) string { return users[user].Account }

// Handler serves discovery, the keys, and tokens:
//
//	GET /tokens                 a line ada=TOKEN and a line bob=TOKEN, for a shell to evaluate
//	GET /token?user=ada         one token, as OAuth's token endpoints answer
//	GET /token?account_id=...   for any account; also tenant and scope
//
// It answers requests that admits accepts: [IsLocal] or [NamesThisMachine].
func (i *Issuer) Handler(admits func(*http.Request) bool) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /.well-known/openid-configuration", func(w http.ResponseWriter, _ *http.Request) {
		httpserver.WriteJSON(w, http.StatusOK, map[string]any{
			"issuer": i.URL, "jwks_uri": i.URL + "/jwks", "token_endpoint": i.URL + "/token", "authorization_endpoint": i.URL + "/token",
			"response_types_supported": []string{"token"}, "subject_types_supported": []string{"public"},
			"id_token_signing_alg_values_supported": []string{"ES256"},
		})
	})
	mux.HandleFunc("GET /jwks", func(w http.ResponseWriter, _ *http.Request) {
		httpserver.WriteJSON(w, http.StatusOK, jose.JSONWebKeySet{Keys: []jose.JSONWebKey{i.key.Public()}})
	})
	mux.HandleFunc("/token", i.serveToken)
	mux.HandleFunc("GET /tokens", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		for _, name := range Users() {
			token, _ := i.Mint(users[name]) // never fails: the claims are text
			_, _ = fmt.Fprintf(w, "%s=%s\n", name, token)
		}
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !admits(r) {
			http.Error(w, "this issuer is for development, and answers at localhost only", http.StatusMisdirectedRequest)
			return
		}
		mux.ServeHTTP(w, r)
	})
}

// IsLocal reports whether a request is from this machine, and names it.
func IsLocal(r *http.Request) bool {
	return IsLoopback((&url.URL{Host: r.RemoteAddr}).Hostname()) && NamesThisMachine(r)
}

// NamesThisMachine reports whether a request is for localhost, a name below it, or an address of this machine alone. A
// web page of others has another name, which it may have pointed to 127.0.0.1.
func NamesThisMachine(r *http.Request) bool {
	host := (&url.URL{Host: r.Host}).Hostname()
	return host == "localhost" || strings.HasSuffix(host, ".localhost") || IsLoopback(host)
}

// IsLoopback reports whether host is an address that only this machine can reach.
func IsLoopback(host string) bool {
	address, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return err == nil && address.Unmap().IsLoopback()
}

func (i *Issuer) serveToken(w http.ResponseWriter, r *http.Request) {
	grant := users[r.FormValue("user")]
	grant.Account = cmp.Or(r.FormValue("account_id"), grant.Account)
	grant.Scope = cmp.Or(r.FormValue("scope"), grant.Scope, usualScope)
	grant.Tenant = r.FormValue("tenant")
	if grant.Account == "" {
		httpserver.WriteJSON(w, http.StatusBadRequest, map[string]string{
			"error": "invalid_request", "error_description": "set user to ada or bob, or set account_id",
		})
		return
	}
	token, _ := i.Mint(grant) // never fails: the claims are text
	httpserver.WriteJSON(w, http.StatusOK, map[string]any{
		"access_token": token, "token_type": "Bearer", "expires_in": int(usualLifetime.Seconds()), "scope": grant.Scope,
	})
}
