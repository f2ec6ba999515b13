package kit

import (
	"crypto/rand"
	"time"

	"example.com/threads/domain/ident"
)

// NewID returns a new identifier.
func NewID[T any]() ident.Of[T] {
	var entropy [10]byte
	_, _ = rand.Read(entropy[:]) // never fails
	return ident.New[T](time.Now(), entropy)
}
