package access_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"

	"example.com/threads/es/estest/testenv"
	"example.com/threads/extras/access"
	"example.com/threads/extras/access/devissuer"
	"example.com/threads/interfaceadaptor/admission"
)

var readAndWrite = []admission.Right{admission.Read, admission.Write}

const account = "01ARZ3NDEKTSV4RRFFQ69G5FAV"

func TestATokenSaysWhoItIsFor(t *testing.T) {
	p := newProvider(t)
	v := verifier(p)
	text := p.mint(t, devissuer.Grant{Account: account, Tenant: "acme", Scope: "threads:read  threads:write"})
	for range 2 { // the second time the token comes from the cache
		token, err := v.Verify(t.Context(), text)
		if err != nil {
			t.Fatal(err)
		}
		if token.Account.String() != account || token.Tenant != "acme" || !slices.Equal(token.Rights, readAndWrite) {
			t.Errorf("got %+v", token)
		}
		if left := time.Until(token.Expires); left < 59*time.Minute || left > time.Hour {
			t.Errorf("the token expires in %s", left)
		}
	}
	if asked := p.asked.Load(); asked != 1 {
		t.Errorf("the keys were fetched %d times", asked)
	}
}

func TestScopesAsOtherIssuersWriteThem(t *testing.T) {
	p := newProvider(t)
	for about, claims := range map[string]map[string]any{
		"a list":          {"scp": []string{"threads:read", "threads:write"}},
		"a text":          {"scp": "threads:read threads:write"},
		"with other kind": {"scp": []any{"threads:read", 7, "threads:write"}},
	} {
		t.Run(about, func(t *testing.T) {
			text := sign(t, p, valid(p), claims)
			token, err := verifier(p).Verify(t.Context(), text)
			if err != nil || !slices.Equal(token.Rights, readAndWrite) {
				t.Errorf("got %+v, %v", token, err)
			}
		})
	}
}

func valid(p *provider) jwt.Claims {
	return jwt.Claims{
		Issuer: p.URL(), Subject: account, Audience: jwt.Audience{"other", devissuer.Audience},
		Expiry: jwt.NewNumericDate(time.Now().Add(time.Hour)),
	}
}

func sign(t *testing.T, p *provider, claims ...any) string {
	t.Helper()
	text, err := p.issuer.Load().Sign(append([]any{map[string]any{devissuer.AccountClaim: account}}, claims...)...)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// with returns the claims of a valid token after a change.
func with(p *provider, change func(*jwt.Claims)) jwt.Claims {
	claims := valid(p)
	change(&claims)
	return claims
}

func TestForgedTokens(t *testing.T) {
	p, other := newProvider(t), newProvider(t)
	good := p.mint(t, devissuer.Grant{Account: account})
	published := p.publicKeys(t).Keys[0]
	parts := strings.Split(good, ".")
	encode := func(text string) string { return base64.RawURLEncoding.EncodeToString([]byte(text)) }
	otherPayload := encode(`{"iss":"` + p.URL() + `","aud":"threads","exp":9999999999,"account_id":"` + account + `"}`)

	for about, c := range map[string]struct{ token, want string }{
		"nothing":                         {"", "signed JWT"},
		"no JWT":                          {"let me in", "signed JWT"},
		"alg none":                        {encode(`{"alg":"none"}`) + "." + parts[1] + ".", "signed JWT"},
		"alg none with its signature":     {encode(`{"alg":"none","kid":"`+published.KeyID+`"}`) + "." + parts[1] + "." + parts[2], "signed JWT"},
		"HMAC with the public key":        {hmacWithPublicKey(t, p, published), "signed JWT"},
		"another content":                 {parts[0] + "." + otherPayload + "." + parts[2], "not signed with a key"},
		"another signature":               {parts[0] + "." + parts[1] + "." + encode(strings.Repeat("x", 64)), "not signed with a key"},
		"a key of its own in it":          {withKeyInside(t, p, published.KeyID), "not signed with a key"},
		"an unknown kid":                  {sign(t, other, valid(p)), "a key that the issuer does not have"},
		"another issuer":                  {sign(t, p, with(p, func(c *jwt.Claims) { c.Issuer = other.URL() })), "another issuer"},
		"no issuer":                       {sign(t, p, with(p, func(c *jwt.Claims) { c.Issuer = "" })), "another issuer"},
		"another audience":                {sign(t, p, with(p, func(c *jwt.Claims) { c.Audience = jwt.Audience{"somebody-else"} })), "another audience"},
		"no audience":                     {sign(t, p, with(p, func(c *jwt.Claims) { c.Audience = nil })), "another audience"},
		"no expiry":                       {sign(t, p, with(p, func(c *jwt.Claims) { c.Expiry = nil })), "when it expires"},
		"expired":                         {sign(t, p, with(p, func(c *jwt.Claims) { c.Expiry = jwt.NewNumericDate(time.Now().Add(-10 * time.Second)) })), "has expired"},
		"not valid yet":                   {sign(t, p, with(p, func(c *jwt.Claims) { c.NotBefore = jwt.NewNumericDate(time.Now().Add(time.Minute)) })), "not valid yet"},
		"an account that is not a string": {sign(t, p, valid(p), map[string]any{"account_id": 7}), "account claim must be"},
		"a tenant that is not a string":   {sign(t, p, valid(p), map[string]any{"tenant": []string{"acme"}}), "tenant claim must be"},
		"huge":                            {p.mint(t, devissuer.Grant{Account: account, Scope: strings.Repeat("s", 8<<10)}), "longer than"},
	} {
		t.Run(about, func(t *testing.T) {
			token, err := verifier(p).Verify(t.Context(), c.token)
			if refusedWith(err) != http.StatusUnauthorized || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %+v, %v", token, err)
			}
			if len(c.token) > 20 && strings.Contains(err.Error(), c.token[:20]) {
				t.Errorf("the error contains the token: %v", err)
			}
		})
	}
	if _, err := verifier(p).Verify(t.Context(), good); err != nil {
		t.Errorf("the valid token: %v", err)
	}
}

// hmacWithPublicKey signs with HMAC and the issuer's public key as the secret, a classic confusion of algorithms.
func hmacWithPublicKey(t *testing.T, p *provider, key jose.JSONWebKey) string {
	t.Helper()
	der, err := x509.MarshalPKIXPublicKey(key.Key)
	if err != nil {
		t.Fatal(err)
	}
	secret := pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})
	return signedBy(t, p, jose.SigningKey{Algorithm: jose.HS256, Key: jose.JSONWebKey{Key: secret, KeyID: key.KeyID}}, nil)
}

// withKeyInside contains the key for its own verification, under the id of the issuer's key.
func withKeyInside(t *testing.T, p *provider, id string) string {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	options := (&jose.SignerOptions{EmbedJWK: true}).WithHeader("kid", id)
	return signedBy(t, p, jose.SigningKey{Algorithm: jose.ES256, Key: key}, options)
}

func signedBy(t *testing.T, p *provider, key jose.SigningKey, options *jose.SignerOptions) string {
	t.Helper()
	signer, err := jose.NewSigner(key, options)
	if err != nil {
		t.Fatal(err)
	}
	text, err := jwt.Signed(signer).Claims(valid(p)).Claims(map[string]any{"account_id": account}).Serialize()
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestClocksMayBeApart(t *testing.T) {
	p := newProvider(t)
	settings := settingsFor(p)
	settings.ClockSkew = time.Minute
	v := access.NewVerifier(settings, discard)
	for about, claims := range map[string]jwt.Claims{
		"expired a while ago": with(p, func(c *jwt.Claims) { c.Expiry = jwt.NewNumericDate(time.Now().Add(-20 * time.Second)) }),
		"valid in a while":    with(p, func(c *jwt.Claims) { c.NotBefore = jwt.NewNumericDate(time.Now().Add(40 * time.Second)) }),
	} {
		if _, err := v.Verify(t.Context(), sign(t, p, claims)); err != nil {
			t.Errorf("%s: %v", about, err)
		}
	}
}

// The cache must not keep a token after its expiry.
func TestAKnownTokenExpires(t *testing.T) {
	p := newProvider(t)
	settings := settingsFor(p)
	settings.ClockSkew = 0
	v := access.NewVerifier(settings, discard)
	text := sign(t, p, with(p, func(c *jwt.Claims) { c.Expiry = jwt.NewNumericDate(time.Now().Add(8 * time.Second)) }))
	if _, err := v.Verify(t.Context(), text); err != nil {
		t.Fatal(err)
	}
	testenv.Eventually(t, 30*time.Second, func() error {
		if _, err := v.Verify(t.Context(), text); err == nil {
			return errors.New("the expired token is still accepted")
		}
		return nil
	})
}

func TestARotatedKey(t *testing.T) {
	p := newProvider(t)
	v := verifier(p)
	before := p.mint(t, devissuer.Grant{Account: account})
	if _, err := v.Verify(t.Context(), before); err != nil {
		t.Fatal(err)
	}
	p.rotate(t)
	after := p.mint(t, devissuer.Grant{Account: account})
	if _, err := v.Verify(t.Context(), after); err != nil {
		t.Errorf("the new key is not found: %v", err)
	}
	if _, err := v.Verify(t.Context(), before); refusedWith(err) != http.StatusUnauthorized {
		t.Errorf("a token of a removed key: %v", err)
	}
}

// An issuer may have keys for others, of kinds that this program does not know.
func TestAKeyOfAnUnknownKindIsIgnored(t *testing.T) {
	for _, foreign := range []string{
		`{"kty":"OKP","crv":"X25519","x":"3p7bfXt9wbTTW2HC7OQ1Nz-DQ8hbeGdNrfx-FG-IK08"}`, `{"kty":"EC","crv":"secp256k1","x":"AA","y":"AA"}`,
		`{"kty":"AKP","alg":"ML-DSA-65"}`, `{}`, `7`,
	} {
		p := newProvider(t)
		p.foreignKey = foreign
		if _, err := verifier(p).Verify(t.Context(), p.mint(t, devissuer.Grant{Account: account})); err != nil {
			t.Errorf("beside the key %s: %v", foreign, err)
		}
	}
}

func TestAnIssuerThatIsDown(t *testing.T) {
	p := newProvider(t)
	v := verifier(p)
	known := p.mint(t, devissuer.Grant{Account: account})
	p.down.Store(true)
	if _, err := v.Verify(t.Context(), known); refusedWith(err) != http.StatusServiceUnavailable {
		t.Errorf("before the keys are known: %v", err)
	}
	if v.Ready() == nil {
		t.Error("the verifier is ready without keys")
	}
	p.down.Store(false)
	if _, err := v.Verify(t.Context(), known); err != nil {
		t.Fatal(err)
	}
	p.down.Store(true)
	fresh := p.mint(t, devissuer.Grant{Account: account, Scope: "threads:read"})
	if _, err := v.Verify(t.Context(), fresh); err != nil {
		t.Errorf("with known keys: %v", err)
	}
	p.rotate(t)
	if _, err := v.Verify(t.Context(), p.mint(t, devissuer.Grant{Account: account})); refusedWith(err) != http.StatusServiceUnavailable {
		t.Errorf("a token with an unknown key, which may be new: %v", err)
	}
	if err := v.Ready(); err != nil {
		t.Errorf("the verifier does not stay ready: %v", err)
	}
}

// The program may start before its issuer.
func TestKeysAreFetchedUntilTheyAreThere(t *testing.T) {
	p := newProvider(t)
	v := running(t, verifier(p))
	testenv.Eventually(t, 10*time.Second, v.Ready)
}

// Anyone can make tokens with unknown keys. They must neither lead to as many requests to the issuer, nor keep a token
// with a new key of the issuer waiting.
func TestStrangersDoNotMakeUsAskTheIssuer(t *testing.T) {
	if testing.Short() {
		t.Skip("left out by -short: it waits for seconds")
	}
	p := newProvider(t)
	v := verifier(p)
	if _, err := v.Verify(t.Context(), p.mint(t, devissuer.Grant{Account: account})); err != nil {
		t.Fatal(err)
	}
	storm, stop := context.WithCancel(t.Context())
	var strangers sync.WaitGroup
	var refused atomic.Int64
	for range 50 {
		strangers.Go(func() {
			for storm.Err() == nil {
				stranger, err := devissuer.New(p.URL())
				if err != nil {
					t.Error(err)
					return
				}
				text, err := stranger.Mint(devissuer.Grant{Account: account, Lifetime: time.Hour})
				if err != nil {
					t.Error(err)
					return
				}
				if _, err := v.Verify(storm, text); err == nil {
					t.Error("a token with an unknown key is accepted")
				}
				refused.Add(1)
			}
		})
	}
	defer strangers.Wait()
	defer stop()
	begun := time.Now()
	testenv.Eventually(t, time.Minute, func() error {
		if n := refused.Load(); n < 300 { // then the burst is used up
			return fmt.Errorf("%d tokens were refused", n)
		}
		return nil
	})
	for range 2 {
		p.rotate(t)
		if _, err := v.Verify(t.Context(), p.mint(t, devissuer.Grant{Account: account})); err != nil {
			t.Errorf("a token with the issuer's new key: %v", err)
		}
	}
	if asked, most := p.asked.Load(), 10+int64(time.Since(begun).Seconds()); asked > most {
		t.Errorf("the issuer was asked %d times, more than %d", asked, most)
	}
}

func FuzzVerify(f *testing.F) {
	issuer, err := devissuer.New("http://127.0.0.1:1") // nothing listens there
	if err != nil {
		f.Fatal(err)
	}
	good, err := issuer.Mint(devissuer.Grant{Account: account, Lifetime: time.Hour})
	if err != nil {
		f.Fatal(err)
	}
	v := access.NewVerifier(access.Settings{Issuer: issuer.URL, Audience: devissuer.Audience}, discard)
	f.Add(good)
	f.Add("eyJhbGciOiJub25lIn0.e30.")
	f.Add(`{"payload":"","signatures":[]}`)
	f.Fuzz(func(t *testing.T, text string) {
		if token, err := v.Verify(t.Context(), text); err == nil {
			t.Errorf("%q is accepted: %+v", text, token)
		}
	})
}
