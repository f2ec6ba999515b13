package erasure

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"slices"
	"sync"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"golang.org/x/sync/errgroup"

	"example.com/threads/domain/account"
	"example.com/threads/es"
)

const (
	// keyLife is how long a key is used before the store is read again, so an erasure takes effect in every process
	// within this time. An unwrapped key is kept while the store returns the same wrapped key.
	keyLife    = 2 * time.Second
	maxKeys    = 20_000 // in memory
	maxUnwraps = 16     // concurrent unwraps of one call, because a remote master key is slow
)

// Keyring seals and opens texts. It is safe for concurrent use. A nil *Keyring means that erasure is off: it leaves
// texts unchanged, and opening a sealed text is [ErrOff].
type Keyring struct {
	store  Store
	master Master
	clock  func() time.Time
	keys   *lru.Cache[string, cachedKey] // by what [about] returns
}

// cachedKey is the store's entry of an owner.
type cachedKey struct {
	entry Entry
	key   *opened // nil: there is none, or it is erased
	until time.Time
}

// NewKeyring returns a keyring with a store and a master key.
func NewKeyring(store Store, master Master, clock func() time.Time) *Keyring {
	keys, _ := lru.New[string, cachedKey](maxKeys) // fails only for a size below 1
	return &Keyring{store: store, master: master, clock: clock, keys: keys}
}

// about is the data that a key and its texts are authenticated with.
func about(tenant es.Tenant, owner string) string { return tenant.String() + "/" + owner }

// Seal seals a text of an owner. place is what the text belongs to, such as the id of a message. The same text in the
// same place is sealed to the same result, so that sealed texts can be compared. An owner without a key gets one; for
// an erased owner it fails with [account.ErrAccountErased].
func (k *Keyring) Seal(ctx context.Context, tenant es.Tenant, owner, place, text string) (string, error) {
	if k == nil {
		return text, nil
	}
	key, err := k.own(ctx, tenant, owner)
	if err != nil {
		return "", err
	}
	return key.seal(about(tenant, owner), owner, place, text), nil
}

// Destroy destroys the key of an owner permanently. All processes notice it within two seconds.
func (k *Keyring) Destroy(ctx context.Context, tenant es.Tenant, owner string) error {
	if k == nil {
		return ErrErasureOff
	}
	if err := k.store.Destroy(ctx, tenant, owner, k.clock()); err != nil {
		return fmt.Errorf("destroy the key of owner %s of tenant %q: %w", owner, tenant, err)
	}
	k.keys.Remove(about(tenant, owner))
	return nil
}

// Text is a text to open in place.
type Text struct {
	Owner string // the text is erased with this owner, even if it is not sealed; empty: unknown
	Value *string
}

// Open opens texts in place, with one read of the store, or two if an owner had no key yet. A text of an erased owner
// becomes [Erased]; any other unsealed text stays unchanged. It fails with [ErrMissingKey] if a key is missing by
// mistake.
func (k *Keyring) Open(ctx context.Context, tenant es.Tenant, texts []Text) (err error) {
	owners := make([]string, len(texts)) // that of a sealed text is in the seal
	for i, text := range texts {
		if owners[i] = text.Owner; IsSealed(*text.Value) {
			if owners[i], err = ownerOf(*text.Value); err != nil {
				return err
			}
			if k == nil {
				return ErrOff
			}
		}
	}
	if k == nil {
		return nil
	}
	found, err := k.all(ctx, tenant, owners)
	if err == nil {
		err = k.read(ctx, tenant, lacking(texts, owners, found), found)
	}
	if err != nil {
		return fmt.Errorf("open texts: %w", err)
	}
	for i, text := range texts {
		of := found[owners[i]]
		switch {
		case *text.Value == "":
		case !of.entry.ErasedAt.IsZero():
			*text.Value = Erased
		case !IsSealed(*text.Value):
		case of.key == nil:
			return fmt.Errorf("owner %s of tenant %q: %w", owners[i], tenant, ErrMissingKey)
		default:
			if *text.Value, err = of.key.open(about(tenant, owners[i]), *text.Value); err != nil {
				return err
			}
		}
	}
	return nil
}

// lacking returns the owners of sealed texts of whom no key is known. They may have got one since the store was read.
func lacking(texts []Text, owners []string, found map[string]cachedKey) (without []string) {
	for i, text := range texts {
		if of := found[owners[i]]; IsSealed(*text.Value) && of.key == nil && of.entry.ErasedAt.IsZero() {
			without = append(without, owners[i])
		}
	}
	return slices.Compact(slices.Sorted(slices.Values(without)))
}

// OpenOne opens one text without a known owner.
func (k *Keyring) OpenOne(ctx context.Context, tenant es.Tenant, text string) (string, error) {
	err := k.Open(ctx, tenant, []Text{{Value: &text}})
	return text, err
}

// own returns the key of an owner, and creates one if there is none.
func (k *Keyring) own(ctx context.Context, tenant es.Tenant, owner string) (*opened, error) {
	found, err := k.all(ctx, tenant, []string{owner})
	if err != nil {
		return nil, err
	}
	of := found[owner]
	if of.entry.ErasedAt.IsZero() && of.key == nil {
		key := make([]byte, keySize)
		_, _ = rand.Read(key) // never fails, as documented
		wrapped, err := k.master.Wrap(ctx, key, about(tenant, owner))
		if err != nil {
			return nil, fmt.Errorf("wrap a new key with the master key: %w", err)
		}
		entry, err := k.store.Create(ctx, tenant, owner, wrapped)
		if err != nil {
			return nil, err
		}
		if of, err = k.remember(ctx, tenant, owner, entry, k.clock()); err != nil {
			return nil, err
		}
	}
	if !of.entry.ErasedAt.IsZero() {
		return nil, account.ErrAccountErased
	}
	return of.key, nil
}

// all returns the cached entries of owners, and reads missing or old ones from the store. An empty owner has none.
func (k *Keyring) all(ctx context.Context, tenant es.Tenant, owners []string) (map[string]cachedKey, error) {
	found := make(map[string]cachedKey, len(owners))
	var stale []string
	now := k.clock()
	for _, owner := range owners {
		if _, seen := found[owner]; seen || owner == "" {
			continue
		}
		of, _ := k.keys.Get(about(tenant, owner))
		if found[owner] = of; !now.Before(of.until) {
			stale = append(stale, owner)
		}
	}
	return found, k.read(ctx, tenant, stale, found)
}

// read reads entries of owners from the store into found.
func (k *Keyring) read(ctx context.Context, tenant es.Tenant, owners []string, found map[string]cachedKey) error {
	if len(owners) == 0 {
		return nil
	}
	now := k.clock()
	entries, err := k.store.Keys(ctx, tenant, owners)
	if err != nil {
		return err
	}
	var mutex sync.Mutex
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(maxUnwraps)
	for _, owner := range owners {
		group.Go(func() error {
			of, err := k.remember(ctx, tenant, owner, entries[owner], now)
			mutex.Lock()
			defer mutex.Unlock()
			found[owner] = of
			return err
		})
	}
	return group.Wait()
}

// remember caches an owner's entry as read (zero: there is none), and unwraps its key unless it is the cached one.
func (k *Keyring) remember(ctx context.Context, tenant es.Tenant, owner string, entry Entry, read time.Time) (cachedKey, error) {
	of := cachedKey{entry: entry, until: read.Add(keyLife)}
	before, _ := k.keys.Peek(about(tenant, owner))
	switch {
	case !entry.ErasedAt.IsZero() || len(entry.Wrapped) == 0:
	case before.key != nil && bytes.Equal(before.entry.Wrapped, entry.Wrapped):
		of.key = before.key
	default:
		key, err := k.master.Unwrap(ctx, entry.Wrapped, about(tenant, owner))
		if err != nil {
			return of, fmt.Errorf("unwrap the key of owner %s of tenant %q with the master key: %w", owner, tenant, err)
		}
		of.key = newOpened(key)
	}
	k.keys.Add(about(tenant, owner), of)
	return of, nil
}
