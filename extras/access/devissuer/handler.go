package devissuer

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"
)

// user is a predefined user.
type user struct{ name, account, scope string }

// users are for trying things out; ada is also an operator.
var users = []user{
	{"ada", "01ARZ3NDEKTSV4RRFFQ69G5FAV", "threads:read threads:write threads:operate"},
	{"bob", "01BX5ZZKBKACTAV9WEVGEMMVRZ", "threads:read threads:write"},
}

// Users returns the names of the predefined users.
func Users() []string {
	var names []string
	for _, each := range users {
		names = append(names, each.name)
	}
	return names
}

const (
	usualLifetime   = 12 * time.Hour
	longestLifetime = 30 * 24 * time.Hour
)

// Handler serves discovery, the keys, and tokens:
//
//	GET /tokens                 a line ada=TOKEN and a line bob=TOKEN, for a shell to evaluate
//	GET /token?user=ada         one token, as OAuth's token endpoints answer
//	GET /token?account_id=...   for any account; also tenant, scope and expires_in, in seconds
func (i *Issuer) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /.well-known/openid-configuration", func(w http.ResponseWriter, _ *http.Request) {
		writeJSON(w, http.StatusOK, map[string]any{
			"issuer": i.url, "jwks_uri": i.url + "/jwks", "token_endpoint": i.url + "/token", "authorization_endpoint": i.url + "/token",
			"response_types_supported": []string{"token"}, "subject_types_supported": []string{"public"},
			"id_token_signing_alg_values_supported": []string{"ES256"},
		})
	})
	mux.HandleFunc("GET /jwks", func(w http.ResponseWriter, _ *http.Request) {
		writeJSON(w, http.StatusOK, jose.JSONWebKeySet{Keys: []jose.JSONWebKey{i.key.Load().Public()}})
	})
	mux.HandleFunc("/token", i.serveToken)
	mux.HandleFunc("GET /tokens", i.serveTokens)
	return toLoopback(mux)
}

// toLoopback rejects requests to other host names, because a web page can point its own name to 127.0.0.1.
func toLoopback(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host := (&url.URL{Host: r.Host}).Hostname()
		if host != "localhost" && !strings.HasSuffix(host, ".localhost") && !IsLoopback(host) {
			http.Error(w, "this issuer is for development, and answers at localhost only", http.StatusMisdirectedRequest)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// IsLoopback reports whether host is an address that only this machine can reach.
func IsLoopback(host string) bool {
	address, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return err == nil && address.Unmap().IsLoopback()
}

func (i *Issuer) serveTokens(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	for _, known := range users {
		token, err := i.Mint(Grant{Account: known.account, Scope: known.scope, Lifetime: usualLifetime})
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		_, _ = fmt.Fprintf(w, "%s=%s\n", known.name, token)
	}
}

func (i *Issuer) serveToken(w http.ResponseWriter, r *http.Request) {
	grant, problem := grantOf(r)
	if problem != "" {
		writeJSON(w, http.StatusBadRequest, map[string]string{"error": "invalid_request", "error_description": problem})
		return
	}
	token, err := i.Mint(grant)
	if err != nil {
		writeJSON(w, http.StatusInternalServerError, map[string]string{"error": "server_error", "error_description": err.Error()})
		return
	}
	writeJSON(w, http.StatusOK, map[string]any{
		"access_token": token, "token_type": "Bearer", "expires_in": int(grant.Lifetime.Seconds()), "scope": grant.Scope,
	})
}

// grantOf returns the content of the requested token, or an error text about the request.
func grantOf(r *http.Request) (Grant, string) {
	known := user{scope: "threads:read threads:write"}
	if name := r.FormValue("user"); name != "" {
		at := slices.IndexFunc(users, func(u user) bool { return u.name == name })
		if at < 0 {
			return Grant{}, "user must be ada or bob; for another account set account_id"
		}
		known = users[at]
	} else if r.FormValue("account_id") == "" {
		return Grant{}, "set user to ada or bob, or set account_id"
	}
	lifetime := usualLifetime
	if asked := r.FormValue("expires_in"); asked != "" {
		seconds, err := time.ParseDuration(asked + "s")
		if err != nil || seconds <= 0 || seconds > longestLifetime {
			return Grant{}, fmt.Sprintf("expires_in must be a number of seconds, at most %.0f", longestLifetime.Seconds())
		}
		lifetime = seconds
	}
	return Grant{
		Account:  cmp.Or(r.FormValue("account_id"), known.account),
		Tenant:   r.FormValue("tenant"),
		Scope:    cmp.Or(r.FormValue("scope"), known.scope),
		Lifetime: lifetime,
	}, ""
}

func writeJSON(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // fails only if the client has disconnected
}
