package access

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/go-jose/go-jose/v4"
	"golang.org/x/sync/singleflight"
	"golang.org/x/time/rate"
)

const (
	refreshEvery = 5 * time.Minute // after a success
	retryEvery   = 5 * time.Second // while the issuer does not answer
	fetchTimeout = 5 * time.Second
	maxKeys      = 1 << 20 // bytes of a JWKS

	// Tokens with unknown key ids cause requests to the issuer: a burst of a few, then one a second for all of them,
	// because anyone can make such tokens.
	unknownKeyEvery = time.Second
	unknownKeyBurst = 5
)

// keySet caches the issuer's keys. They are kept while the issuer does not answer, and replaced when it does.
type keySet struct {
	issuer  string
	http    *http.Client
	log     *slog.Logger
	unknown *rate.Limiter

	keys    atomic.Pointer[jose.JSONWebKeySet] // nil until first fetched; never changed in place
	reached atomic.Bool                        // the last attempt succeeded

	waiting  singleflight.Group // tokens with unknown keys that wait for the next fetch
	fetching sync.Mutex
	url      string // of the JWKS, once discovered; guarded by fetching
}

func newKeySet(settings TokenSettings) *keySet {
	client := settings.HTTP
	if client == nil {
		client = &http.Client{Timeout: fetchTimeout}
	}
	return &keySet{
		issuer: settings.Issuer, http: client, log: settings.Log,
		unknown: rate.NewLimiter(rate.Every(unknownKeyEvery), unknownKeyBurst),
	}
}

func (k *keySet) current() *jose.JSONWebKeySet { return k.keys.Load() }

func (k *keySet) ready() error {
	if k.current() == nil {
		return fmt.Errorf("%w from %s", ErrUnavailable, k.issuer)
	}
	return nil
}

// run fetches the keys periodically until ctx ends.
func (k *keySet) run(ctx context.Context) {
	for {
		wait := refreshEvery
		if err := k.refresh(ctx); err != nil {
			wait = retryEvery
			if ctx.Err() == nil {
				k.log.WarnContext(ctx, "the issuer's keys can't be fetched; the cached ones stay in use", "issuer", k.issuer, "error", err)
			}
		}
		select {
		case <-time.After(wait + rand.N(wait/10)):
		case <-ctx.Done():
			return
		}
	}
}

// find returns the keys that may have signed a token with this key id, and their set. If the id is unknown, it waits
// for keys that are fetched from now on, for at most fetchTimeout.
func (k *keySet) find(ctx context.Context, id string) ([]jose.JSONWebKey, *jose.JSONWebKeySet, error) {
	keys := k.current()
	if found := signers(keys, id); len(found) > 0 {
		return found, keys, nil
	}
	if !k.reached.Load() && k.unknown.Tokens() < 1 {
		return nil, nil, ErrUnavailable // the issuer did not answer just now
	}
	shared := context.WithoutCancel(ctx) // the first caller may leave while others wait
	fetched := k.waiting.DoChan("", func() (any, error) {
		err := k.unknown.Wait(shared)
		if err == nil {
			err = k.refresh(shared)
		}
		if err != nil {
			k.log.WarnContext(shared, "the issuer's keys can't be fetched for a token with an unknown key", "issuer", k.issuer, "error", err)
		}
		return nil, err
	})
	ctx, cancel := context.WithTimeout(ctx, fetchTimeout)
	defer cancel()
	select {
	case <-fetched:
	case <-ctx.Done():
		return nil, nil, ErrUnavailable
	}
	keys = k.current()
	switch found := signers(keys, id); {
	case len(found) > 0:
		return found, keys, nil
	case keys == nil || !k.reached.Load():
		return nil, nil, ErrUnavailable
	default:
		return nil, nil, invalid("the token is signed with a key that the issuer does not have")
	}
}

// signers returns the keys with this id, or all keys for a token without an id.
func signers(keys *jose.JSONWebKeySet, id string) []jose.JSONWebKey {
	if keys == nil {
		return nil
	}
	if id == "" {
		return keys.Keys
	}
	return keys.Key(id)
}

// refresh fetches the keys.
func (k *keySet) refresh(ctx context.Context) error {
	k.fetching.Lock()
	defer k.fetching.Unlock()
	k.waiting.Forget("") // this fetch may miss the key of a token that comes now: it waits for the next one
	ctx, cancel := context.WithTimeout(ctx, fetchTimeout)
	defer cancel()
	keys, err := k.fetch(ctx)
	k.reached.Store(err == nil)
	// The same keys stay the same pointer, so that verified tokens stay known.
	if err == nil && !sameKeys(k.current(), keys) {
		k.keys.Store(keys)
		k.log.InfoContext(ctx, "the issuer's keys have changed", "issuer", k.issuer, "keys", len(keys.Keys))
	}
	return err
}

// fetch discovers where the keys are, and reads them.
func (k *keySet) fetch(ctx context.Context) (*jose.JSONWebKeySet, error) {
	if k.url == "" {
		provider, err := oidc.NewProvider(oidc.ClientContext(ctx, k.http), k.issuer)
		if err != nil {
			return nil, fmt.Errorf("discover the issuer: %w", err)
		}
		var metadata struct {
			JWKS string `json:"jwks_uri"`
		}
		if err := provider.Claims(&metadata); err != nil || metadata.JWKS == "" {
			return nil, errors.Join(errors.New("the issuer's metadata has no jwks_uri"), err)
		}
		k.url = metadata.JWKS
	}
	keys, err := k.read(ctx)
	if err != nil {
		k.url = "" // it may have moved: discover it again
		return nil, fmt.Errorf("read the issuer's keys: %w", err)
	}
	return keys, nil
}

func (k *keySet) read(ctx context.Context) (*jose.JSONWebKeySet, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, k.url, nil)
	if err != nil {
		return nil, err
	}
	response, err := k.http.Do(request)
	if err != nil {
		return nil, err
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("the issuer answered %s", response.Status)
	}
	var all jose.JSONWebKeySet
	if err := json.NewDecoder(io.LimitReader(response.Body, maxKeys)).Decode(&all); err != nil {
		return nil, err
	}
	usable := &jose.JSONWebKeySet{}
	for _, key := range all.Keys {
		if key.Valid() && key.IsPublic() && (key.Use == "" || key.Use == "sig") {
			usable.Keys = append(usable.Keys, key)
		}
	}
	if len(usable.Keys) == 0 {
		return nil, errors.New("there is no public key for signatures among them")
	}
	return usable, nil
}

func sameKeys(a, b *jose.JSONWebKeySet) bool {
	if a == nil || b == nil {
		return a == b
	}
	before, errBefore := json.Marshal(a)
	after, errAfter := json.Marshal(b)
	return errBefore == nil && errAfter == nil && string(before) == string(after)
}
