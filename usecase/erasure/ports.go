package erasure

import (
	"context"
	"errors"
	"fmt"
	"time"

	"example.com/threads/usecase"
)

// Store keeps the wrapped keys of owners, by tenant and owner. All methods may be called concurrently, from any number
// of processes. An error that [usecase.KindOf] calls unavailable may pass; others are faults.
type Store interface {
	// Keys returns the entries of those owners that have one, read consistently. Owners are different.
	Keys(ctx context.Context, tenant usecase.Tenant, owners []string) (map[string]Entry, error)
	// Create stores a key for an owner without an entry, and returns the entry that is there afterwards: of several
	// callers, all get the same one.
	Create(ctx context.Context, tenant usecase.Tenant, owner string, wrapped []byte) (Entry, error)
	// Destroy replaces the owner's key, or the lack of one, by a tombstone for good. The time of the first call stays.
	// When it returns, the key is no longer in the store's own files, as far as that is in its hands.
	Destroy(ctx context.Context, tenant usecase.Tenant, owner string, at time.Time) error
}

// Entry is the wrapped key of an owner or, with ErasedAt, the tombstone of one.
type Entry struct {
	Wrapped  []byte
	ErasedAt time.Time // zero: not erased
}

// Master wraps keys with the master key. about is authenticated with the key: unwrapping needs the same text.
type Master interface {
	Wrap(ctx context.Context, key []byte, about string) ([]byte, error)
	Unwrap(ctx context.Context, wrapped []byte, about string) ([]byte, error)
}

// Erased is what an erased text is shown as.
const Erased = "[erased]"

var (
	// ErrErased: the owner is erased, so nothing can be sealed for them.
	ErrErased = errors.New("the owner is erased")
	// ErrOff: there is no keyring, because erasure is off.
	ErrOff = errors.New("this program has no keys of people: set ERASURE=on and the master key that texts were sealed under")
)

// MissingKeyError: a text is sealed with a key that is not in the store, although nobody has erased its owner.
type MissingKeyError struct {
	Tenant usecase.Tenant
	Owner  string
}

func (e *MissingKeyError) Error() string {
	return fmt.Sprintf("the key of owner %s of tenant %q is missing in the key store, and was not erased: bring the key store back from a backup",
		e.Owner, e.Tenant)
}
