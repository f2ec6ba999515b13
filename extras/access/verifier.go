package access

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
	"golang.org/x/sync/semaphore"
	"golang.org/x/time/rate"

	"example.com/threads/domain/ident"
	"example.com/threads/es"
	"example.com/threads/interfaceadaptor/admission"
)

const (
	maxToken     = 8 << 10 // bytes of a token
	cachedTokens = 10_000  // cached verified tokens
)

// algorithms are accepted, all asymmetric. Those in the issuer's metadata or in the token are ignored.
var algorithms = []jose.SignatureAlgorithm{
	jose.RS256, jose.RS384, jose.RS512, jose.PS256, jose.PS384, jose.PS512, jose.ES256, jose.ES384, jose.ES512, jose.EdDSA,
}

// Verifier verifies tokens. It is safe for concurrent use.
type Verifier struct {
	settings Settings
	log      *slog.Logger

	keys atomic.Pointer[keySet] // without keys until they are fetched

	rate     *rate.Limiter
	fetching *semaphore.Weighted // held while keys are fetched, for the fields below
	begun    time.Time           // the last fetch
	failed   error               // its result
}

// NewVerifier returns a verifier without contacting the issuer. [Verifier.Run] keeps its keys fresh.
func NewVerifier(settings Settings, log *slog.Logger) *Verifier {
	v := &Verifier{settings: settings, log: log, rate: rate.NewLimiter(rate.Every(fetchEvery), fetchBurst), fetching: semaphore.NewWeighted(1)}
	v.keys.Store(newKeySet(nil))
	return v
}

// scopeOf is the scope of a token that gives it a right.
func scopeOf(right admission.Right) string { return "threads:" + string(right) }

// Identity is whom a verified token was issued to.
type Identity struct {
	admission.Principal
	Expires time.Time // without clock skew; zero: never
}

// Verify returns a token's identity if it is signed by the issuer, for this audience and valid now. Otherwise the error
// is an [admission.Refusal], which reveals nothing of the token's content.
func (v *Verifier) Verify(ctx context.Context, text string) (Identity, error) {
	if len(text) > maxToken {
		return Identity{}, Unauthenticated(fmt.Sprintf("the token is longer than %d bytes", maxToken))
	}
	digest := sha256.Sum256([]byte(text))
	if known, found := v.keys.Load().verified.Get(digest); found {
		if time.Now().After(known.Expires.Add(v.settings.ClockSkew)) {
			return Identity{}, errTokenExpired
		}
		return known, nil
	}
	token, err := jwt.ParseSigned(text, algorithms)
	if err != nil {
		return Identity{}, Unauthenticated("the token must be a signed JWT with an asymmetric algorithm")
	}
	keys, signers, err := v.keysOf(ctx, token.Headers[0].KeyID)
	if err != nil {
		return Identity{}, err
	}
	var standard jwt.Claims
	var all map[string]any
	if !slices.ContainsFunc(signers, func(key jose.JSONWebKey) bool {
		return (key.Algorithm == "" || key.Algorithm == token.Headers[0].Algorithm) && token.Claims(key, &standard, &all) == nil
	}) {
		return Identity{}, Unauthenticated("the token is not signed with a key of the issuer")
	}
	if err := v.check(standard); err != nil {
		return Identity{}, err
	}
	found, err := v.identify(all)
	if err == nil {
		found.Expires = standard.Expiry.Time()
		keys.verified.Add(digest, found)
	}
	return found, err
}

var errTokenExpired = Unauthenticated("the token has expired")

// check checks the claims that every token must have.
func (v *Verifier) check(claims jwt.Claims) error {
	err := claims.ValidateWithLeeway(jwt.Expected{
		Issuer: v.settings.Issuer, AnyAudience: jwt.Audience{v.settings.Audience}, Time: time.Now(),
	}, v.settings.ClockSkew)
	switch {
	case claims.Expiry == nil:
		return Unauthenticated("the token must say when it expires")
	case err == nil:
		return nil
	case errors.Is(err, jwt.ErrInvalidIssuer):
		return Unauthenticated("the token is from another issuer")
	case errors.Is(err, jwt.ErrInvalidAudience):
		return Unauthenticated("the token is for another audience")
	case errors.Is(err, jwt.ErrExpired):
		return errTokenExpired
	case errors.Is(err, jwt.ErrNotValidYet), errors.Is(err, jwt.ErrIssuedInTheFuture):
		return Unauthenticated("the token is not valid yet")
	}
	return Unauthenticated("the token's claims are not valid")
}

// identify returns the identity in the claims of a token. Without a tenant it is of the one with the empty code.
func (v *Verifier) identify(claims map[string]any) (found Identity, err error) {
	account, _ := claims[v.settings.AccountClaim].(string)
	if found.Account, err = ident.Parse[ident.UserAccount](account); err != nil {
		return Identity{}, Unauthenticated("the token names no account: its account claim must be a ULID or a UUID")
	}
	named, given := claims[v.settings.TenantClaim]
	tenant, isText := named.(string)
	if found.Tenant, err = es.ParseTenant(tenant); err != nil || given && !isText {
		return Identity{}, Unauthenticated("the token's tenant claim must be 1 to 32 characters out of a-z, 0-9 and -")
	}
	scopes := scopesOf(claims)
	found.ActsForOthers = slices.Contains(scopes, "act_as") // for imports and process managers
	for _, right := range []admission.Right{admission.Read, admission.Write, admission.Operate} {
		if slices.Contains(scopes, scopeOf(right)) {
			found.Rights = append(found.Rights, right)
		}
	}
	return found, nil
}

// scopesOf returns the claim scope of RFC 9068, separated by spaces, or scp of some issuers, a string or a list.
func scopesOf(claims map[string]any) (scopes []string) {
	for _, name := range []string{"scope", "scp"} {
		switch value := claims[name].(type) {
		case string:
			return strings.Fields(value)
		case []any:
			for _, entry := range value {
				if scope, ok := entry.(string); ok {
					scopes = append(scopes, scope)
				}
			}
			return scopes
		}
	}
	return nil
}
