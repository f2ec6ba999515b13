package access

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/go-jose/go-jose/v4"
	lru "github.com/hashicorp/golang-lru/v2"

	"example.com/threads/es"
	"example.com/threads/infrastructure/httpserver"
)

const (
	refreshEvery = 5 * time.Minute // after a success
	retryEvery   = 5 * time.Second // while the issuer does not answer
	fetchTimeout = 5 * time.Second
	maxKeys      = 1 << 20 // bytes of a JWKS

	// Tokens with unknown key ids cause requests to the issuer: a burst of a few, then one a second for all of them,
	// because anyone can make such tokens.
	fetchEvery = time.Second
	fetchBurst = 5
)

// keySet is the issuer's keys as fetched once, with the tokens that they have verified.
type keySet struct {
	jose.JSONWebKeySet
	verified *lru.Cache[[sha256.Size]byte, Identity]
}

func newKeySet(keys []jose.JSONWebKey) *keySet {
	verified, _ := lru.New[[sha256.Size]byte, Identity](cachedTokens) // fails only for a size below 1
	return &keySet{jose.JSONWebKeySet{Keys: keys}, verified}
}

// Ready returns nil once the issuer's keys are known, also if the issuer fails later.
func (v *Verifier) Ready() error {
	if len(v.keys.Load().Keys) == 0 {
		return httpserver.Public("the issuer of the tokens has not returned its keys yet; the log says why")
	}
	return nil
}

// Run keeps the issuer's keys fresh until ctx ends.
func (v *Verifier) Run(ctx context.Context) {
	for wait := time.Duration(0); es.Wait(ctx, wait) == nil; wait += rand.N(wait / 10) {
		wait = refreshEvery
		if v.refresh(ctx) != nil {
			wait = retryEvery
		}
	}
}

// keysOf returns the issuer's keys, and those of them that may have signed a token with this key id, or without one.
// If the id is unknown, it waits for keys that are fetched from now on.
func (v *Verifier) keysOf(ctx context.Context, id string) (*keySet, []jose.JSONWebKey, error) {
	for fresh := false; ; fresh = true {
		keys := v.keys.Load()
		signers := keys.Keys
		if id != "" {
			signers = keys.Key(id)
		}
		switch {
		case len(signers) > 0:
			return keys, signers, nil
		case fresh:
			return nil, nil, Unauthenticated("the token is signed with a key that the issuer does not have")
		case v.refresh(ctx) != nil:
			return nil, nil, errUnavailable
		}
	}
}

// refresh replaces the keys, unless another call fetches them from now on. Without an answer of the issuer they stay.
func (v *Verifier) refresh(ctx context.Context) error {
	since := time.Now()
	ctx, cancel := context.WithTimeout(ctx, fetchTimeout)
	defer cancel()
	if err := v.fetching.Acquire(ctx, 1); err != nil {
		return err
	}
	defer v.fetching.Release(1)
	if v.begun.After(since) {
		return v.failed
	}
	if err := v.rate.Wait(ctx); err != nil {
		return err
	}
	v.begun = time.Now()
	ctx, cancel = context.WithTimeout(context.WithoutCancel(ctx), fetchTimeout) // others wait for it, too
	defer cancel()
	keys, err := v.fetch(ctx)
	if err == nil {
		v.keys.Store(keys)
	} else {
		v.log.WarnContext(ctx, "the issuer's keys can't be fetched; the cached ones stay in use", "issuer", v.settings.Issuer, "error", err)
	}
	v.failed = err
	return err
}

// fetch discovers where the keys are, and reads them.
func (v *Verifier) fetch(ctx context.Context) (*keySet, error) {
	provider, err := oidc.NewProvider(ctx, v.settings.Issuer)
	if err != nil {
		return nil, fmt.Errorf("discover the issuer: %w", err)
	}
	var metadata struct {
		JWKS string `json:"jwks_uri"`
	}
	if err := provider.Claims(&metadata); err != nil {
		return nil, fmt.Errorf("the issuer's metadata: %w", err)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, metadata.JWKS, nil)
	if err != nil {
		return nil, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer func() { _ = response.Body.Close() }()
	var published struct {
		Keys []json.RawMessage `json:"keys"`
	}
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("the issuer answered %s", response.Status)
	}
	if err := json.NewDecoder(io.LimitReader(response.Body, maxKeys)).Decode(&published); err != nil {
		return nil, fmt.Errorf("read the issuer's keys: %w", err)
	}
	var keys []jose.JSONWebKey
	for _, one := range published.Keys {
		var key jose.JSONWebKey // of a kind that is unknown here, it is ignored: RFC 7517, section 5
		if json.Unmarshal(one, &key) == nil && key.Valid() && key.IsPublic() && (key.Use == "" || key.Use == "sig") {
			keys = append(keys, key)
		}
	}
	if len(keys) == 0 {
		return nil, errors.New("the issuer has no public key for signatures")
	}
	return newKeySet(keys), nil
}
