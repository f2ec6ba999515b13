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
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
)

// Audience is the audience of the tokens.
const Audience = "threads"

// The claims that identify the account and the tenant.
const (
	AccountClaim = "account_id"
	TenantClaim  = "tenant"
)

// Grant is the content of a token.
type Grant struct {
	Account  string
	Tenant   string        // empty: no claim
	Scope    string        // scopes with spaces between them
	Lifetime time.Duration // zero: twelve hours
}

const usualLifetime = 12 * time.Hour

// Issuer signs tokens. It is safe for concurrent use.
type Issuer struct {
	url    string
	key    jose.JSONWebKey
	signer jose.Signer
}

// New returns an issuer with a new key. url is where its handler is served.
func New(url string) (*Issuer, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("create the issuer's key: %w", err)
	}
	private := jose.JSONWebKey{Key: key, KeyID: rand.Text(), Algorithm: string(jose.ES256), Use: "sig"}
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.ES256, Key: private}, (&jose.SignerOptions{}).WithType("at+jwt"))
	return &Issuer{url, private, signer}, err
}

// URL is the issuer's identifier.
func (i *Issuer) URL() string { return i.url }

// Mint signs a token.
func (i *Issuer) Mint(grant Grant) (string, error) {
	now := time.Now()
	private := map[string]any{AccountClaim: grant.Account, "scope": grant.Scope}
	if grant.Tenant != "" {
		private[TenantClaim] = grant.Tenant
	}
	return i.Sign(jwt.Claims{
		Issuer: i.url, Subject: grant.Account, Audience: jwt.Audience{Audience}, ID: rand.Text(),
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
