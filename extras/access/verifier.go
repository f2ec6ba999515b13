package access

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
	lru "github.com/hashicorp/golang-lru/v2"
)

const (
	maxToken     = 8 << 10 // bytes of a token
	cachedTokens = 10_000  // cached verified tokens
)

// algorithms are the accepted signature algorithms. All are asymmetric. Algorithms in the issuer's metadata or in the
// token are ignored.
var algorithms = []jose.SignatureAlgorithm{
	jose.RS256, jose.RS384, jose.RS512, jose.PS256, jose.PS384, jose.PS512, jose.ES256, jose.ES384, jose.ES512, jose.EdDSA,
}

// TokenSettings say which tokens are accepted.
type TokenSettings struct {
	Issuer   string // the issuer's URL, from which discovery starts
	Audience string // the required audience of a token
	// AccountClaim and TenantClaim name the claims with the account and the tenant.
	AccountClaim, TenantClaim string
	// ClockSkew is the tolerated difference between the issuer's clock and ours when checking exp and nbf.
	ClockSkew time.Duration
	Log       *slog.Logger
	// HTTP asks the issuer; nil: a client with a time limit.
	HTTP *http.Client
}

// Token holds the claims of a verified token.
type Token struct {
	Account string // empty without the claim
	Tenant  string // empty without the claim
	Scopes  []string
	Expires time.Time // without clock skew
}

// InvalidError says why a token is rejected. Its text reveals nothing of the token's content and may be sent to the
// client.
type InvalidError struct{ Reason string }

func (e *InvalidError) Error() string { return e.Reason }

func invalid(format string, args ...any) error { return &InvalidError{fmt.Sprintf(format, args...)} }

// ErrUnavailable means that the issuer could not be asked for the token's key, so the token could not be verified.
var ErrUnavailable = errors.New("the issuer's keys can't be fetched")

// Verifier verifies tokens. It is safe for concurrent use.
type Verifier struct {
	settings TokenSettings
	keys     *keySet
	known    *lru.Cache[[sha256.Size]byte, knownToken]
}

// knownToken is a verified token, with the key set that verified it.
type knownToken struct {
	token Token
	keys  *jose.JSONWebKeySet
}

// NewVerifier returns a verifier without contacting the issuer. [Verifier.Run] keeps its keys fresh.
func NewVerifier(settings TokenSettings) *Verifier {
	known, err := lru.New[[sha256.Size]byte, knownToken](cachedTokens)
	if err != nil {
		panic(fmt.Sprintf("access: %v", err)) // the size is a constant
	}
	return &Verifier{settings: settings, keys: newKeySet(settings), known: known}
}

// Run keeps the issuer's keys fresh until ctx ends.
func (v *Verifier) Run(ctx context.Context) { v.keys.run(ctx) }

// Ready returns nil once the issuer's keys are known, also if the issuer fails later.
func (v *Verifier) Ready(context.Context) error { return v.keys.ready() }

// Verify returns a token's claims if it is signed by the issuer, for this audience and valid now. Otherwise the error
// is an [InvalidError] or [ErrUnavailable].
func (v *Verifier) Verify(ctx context.Context, text string) (Token, error) {
	if len(text) > maxToken {
		return Token{}, invalid("the token is longer than %d bytes", maxToken)
	}
	digest := sha256.Sum256([]byte(text))
	if known, ok := v.known.Get(digest); ok && known.keys == v.keys.current() {
		return known.token, v.expired(known.token)
	}
	token, keys, err := v.verify(ctx, text)
	if err != nil {
		return Token{}, err
	}
	v.known.Add(digest, knownToken{token, keys})
	return token, nil
}

func (v *Verifier) expired(token Token) error {
	if time.Now().After(token.Expires.Add(v.settings.ClockSkew)) {
		return invalid("the token has expired")
	}
	return nil
}

func (v *Verifier) verify(ctx context.Context, text string) (Token, *jose.JSONWebKeySet, error) {
	parsed, err := jwt.ParseSigned(text, algorithms)
	if err != nil {
		return Token{}, nil, invalid("the token must be a signed JWT with an asymmetric algorithm")
	}
	candidates, keys, err := v.keys.find(ctx, parsed.Headers[0].KeyID)
	if err != nil {
		return Token{}, nil, err
	}
	var standard jwt.Claims
	var all map[string]any
	if !verifiedByOne(parsed, candidates, &standard, &all) {
		return Token{}, nil, invalid("the token is not signed with a key of the issuer")
	}
	if err := v.check(standard); err != nil {
		return Token{}, nil, err
	}
	token := Token{Expires: standard.Expiry.Time(), Scopes: scopesOf(all)}
	if token.Account, err = textClaim(all, v.settings.AccountClaim); err != nil {
		return Token{}, nil, err
	}
	token.Tenant, err = textClaim(all, v.settings.TenantClaim)
	return token, keys, err
}

func verifiedByOne(token *jwt.JSONWebToken, keys []jose.JSONWebKey, claims ...any) bool {
	for _, key := range keys {
		if key.Algorithm != "" && key.Algorithm != token.Headers[0].Algorithm {
			continue
		}
		if token.Claims(key, claims...) == nil {
			return true
		}
	}
	return false
}

// check checks the claims that every token must have.
func (v *Verifier) check(claims jwt.Claims) error {
	if claims.Expiry == nil {
		return invalid("the token must say when it expires")
	}
	err := claims.ValidateWithLeeway(jwt.Expected{
		Issuer: v.settings.Issuer, AnyAudience: jwt.Audience{v.settings.Audience}, Time: time.Now(),
	}, v.settings.ClockSkew)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, jwt.ErrInvalidIssuer):
		return invalid("the token is from another issuer")
	case errors.Is(err, jwt.ErrInvalidAudience):
		return invalid("the token is for another audience")
	case errors.Is(err, jwt.ErrExpired):
		return invalid("the token has expired")
	case errors.Is(err, jwt.ErrNotValidYet), errors.Is(err, jwt.ErrIssuedInTheFuture):
		return invalid("the token is not valid yet")
	default:
		return invalid("the token's claims are not valid")
	}
}
