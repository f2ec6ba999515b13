package ident

import (
	"encoding/hex"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"
)

// Of identifies one T by a ULID. Identifiers of different things are different types: a member's id is never taken for
// a message's. The zero value identifies nothing; [Of.IsZero] tells.
type Of[T any] struct{ value ulid.ULID }

// UserAccount is who acts.
type UserAccount struct{}

// UserID identifies a user account, whichever aggregate it acts on.
type UserID = Of[UserAccount]

// Parse reads an identifier: the 26 Crockford characters of a ULID in either case, or the UUID form of the same 16
// bytes, which older data and clients use. Anything else is an [InvalidError].
func Parse[T any](text string) (Of[T], error) {
	if len(text) == len("01890535-c59c-72d5-08a8-dcea316374c8") {
		if value, ok := parseUUID(text); ok {
			return Of[T]{value}, nil
		}
	}
	value, err := ulid.ParseStrict(strings.ToUpper(text))
	if err != nil || value.IsZero() {
		return Of[T]{}, &InvalidError{Field: "id", Reason: "must be a ULID of 26 characters"}
	}
	return Of[T]{value}, nil
}

// New makes an identifier from a time, to the millisecond, and 80 random bits.
func New[T any](at time.Time, entropy [10]byte) Of[T] {
	var id Of[T]
	// Neither fails: the time is far from the year 10889, and the entropy is as long as it must be.
	_ = id.value.SetTime(ulid.Timestamp(at))
	_ = id.value.SetEntropy(entropy[:])
	return id
}

// FromULID is the identifier with this value.
func FromULID[T any](value ulid.ULID) Of[T] { return Of[T]{value} }

// ULID is the identifier's value.
func (id Of[T]) ULID() ulid.ULID { return id.value }

// String is the ULID text, and empty for the zero value.
func (id Of[T]) String() string {
	if id.IsZero() {
		return ""
	}
	return id.value.String()
}

// IsZero tells that id identifies nothing.
func (id Of[T]) IsZero() bool { return id.value.IsZero() }

// Compare orders identifiers by the time of their making: -1, 0 or 1.
func (id Of[T]) Compare(other Of[T]) int { return id.value.Compare(other.value) }

func parseUUID(text string) (ulid.ULID, bool) {
	var value ulid.ULID
	for _, dash := range []int{8, 13, 18, 23} {
		if text[dash] != '-' {
			return value, false
		}
	}
	digits := strings.ReplaceAll(text, "-", "")
	n, err := hex.Decode(value[:], []byte(digits))
	return value, err == nil && n == len(value) && !value.IsZero()
}
