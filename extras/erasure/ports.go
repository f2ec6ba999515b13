// Package erasure makes it possible to erase a person's texts. It seals texts with a key of their author, opens them
// for those who may read them, and destroys the key. Only sealed texts are stored and passed on, so destroying the key
// erases the text everywhere. A [Keyring] does this with a [Store] of wrapped keys and a [Master] key.
//
// A keyring wraps what the programs have: [Keyring.Commands], [Keyring.Answers], [Keyring.Reader], [Keyring.Broker].
package erasure

import (
	"context"
	"errors"
	"time"

	"example.com/threads/domain/account"
	"example.com/threads/es"
	"example.com/threads/usecase/chat"
)

// Store stores the wrapped keys of owners by tenant and owner. All methods may be called concurrently, from any number
// of processes. After an error of the kind unavailable a retry may succeed; others are faults.
type Store interface {
	// Keys returns the existing entries of the owners, read consistently. The owners are all different.
	Keys(ctx context.Context, tenant es.Tenant, owners []string) (map[string]Entry, error)
	// Create stores a key for an owner without an entry, and returns the stored entry: concurrent callers all get the
	// same one.
	Create(ctx context.Context, tenant es.Tenant, owner string, wrapped []byte) (Entry, error)
	// Destroy replaces the owner's key, if any, by a permanent tombstone. The time of the first call is kept. When it
	// returns, the key is no longer in the store's own files, if the store controls them.
	Destroy(ctx context.Context, tenant es.Tenant, owner string, at time.Time) error
}

// Entry is the wrapped key of an owner or, with ErasedAt, a tombstone.
type Entry struct {
	Wrapped  []byte
	ErasedAt time.Time // zero: not erased
}

// Master wraps keys with the master key. about is authenticated with the key: unwrapping needs the same text.
type Master interface {
	Wrap(ctx context.Context, key []byte, about string) ([]byte, error)
	Unwrap(ctx context.Context, wrapped []byte, about string) ([]byte, error)
}

// Erased replaces an erased text, as it replaces the name in the row of an erased account.
const Erased = chat.ErasedName

var (
	// ErrErased: the owner is erased, so no text can be sealed.
	ErrErased = account.ErrAccountErased
	// ErrOff: there is no keyring, because erasure is off.
	ErrOff = errors.New("this program has no keys of people: set ERASURE=on and the master key that texts were sealed under")
	// ErrMissingKey: a text is sealed with a key that is not in the store, although its owner was not erased.
	ErrMissingKey = errors.New("a key is missing in the key store, and was not erased: bring the key store back from a backup")
)
