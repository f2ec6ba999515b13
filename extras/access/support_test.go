package access_test

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"example.com/threads/extras/access"
	"example.com/threads/extras/access/devissuer"
)

// provider is an issuer that can be shut down. It counts the requests for its keys.
type provider struct {
	issuer atomic.Pointer[devissuer.Issuer]
	down   atomic.Bool
	asked  atomic.Int64
	server *httptest.Server

	foreignKey string // published before the others
}

func newProvider(t *testing.T) *provider {
	t.Helper()
	p := &provider{}
	p.server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/jwks" {
			p.asked.Add(1)
		}
		if p.down.Load() {
			http.Error(w, "down", http.StatusServiceUnavailable)
			return
		}
		if r.URL.Path == "/jwks" && p.foreignKey != "" {
			keys, err := json.Marshal(p.publicKeys(t))
			if err != nil {
				t.Error(err)
			}
			_, _ = w.Write(bytes.Replace(keys, []byte(`"keys":[`), []byte(`"keys":[`+p.foreignKey+","), 1))
			return
		}
		p.issuer.Load().Handler(devissuer.IsLocal).ServeHTTP(w, r)
	}))
	t.Cleanup(p.server.Close)
	p.rotate(t)
	return p
}

// URL is the issuer's identifier.
func (p *provider) URL() string { return p.server.URL }

// rotate replaces the key.
func (p *provider) rotate(t *testing.T) {
	t.Helper()
	issuer, err := devissuer.New(p.server.URL)
	if err != nil {
		t.Fatal(err)
	}
	p.issuer.Store(issuer)
}

func (p *provider) mint(t testing.TB, grant devissuer.Grant) string {
	t.Helper()
	if grant.Lifetime == 0 {
		grant.Lifetime = time.Hour
	}
	token, err := p.issuer.Load().Mint(grant)
	if err != nil {
		t.Fatal(err)
	}
	return token
}

// publicKeys returns the keys as the issuer publishes them.
func (p *provider) publicKeys(t *testing.T) jose.JSONWebKeySet {
	t.Helper()
	recorder := httptest.NewRecorder()
	request := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/jwks", nil)
	request.RemoteAddr = "127.0.0.1:5000"
	request.Host = "localhost"
	p.issuer.Load().Handler(devissuer.IsLocal).ServeHTTP(recorder, request)
	var keys jose.JSONWebKeySet
	if err := json.NewDecoder(recorder.Body).Decode(&keys); err != nil {
		t.Fatal(err)
	}
	return keys
}

func settingsFor(p *provider) access.Settings {
	return access.Settings{
		Issuer: p.URL(), Audience: devissuer.Audience, AccountClaim: devissuer.AccountClaim, TenantClaim: devissuer.TenantClaim,
		ClockSkew: 5 * time.Second,
	}
}

func verifier(p *provider) *access.Verifier { return access.NewVerifier(settingsFor(p), discard) }

// running runs a verifier, which refreshes its keys, until the test ends.
func running(t *testing.T, v *access.Verifier) *access.Verifier {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		v.Run(ctx)
	}()
	t.Cleanup(func() { stop(); <-done })
	return v
}

var discard = slog.New(slog.DiscardHandler)
