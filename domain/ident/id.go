package ident

import (
	"encoding/hex"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"
)

// Of identifies a T by a ULID. Ids of different things have different types, so they cannot be confused. The zero value
// identifies nothing; see [Of.IsZero].
type Of[T any] struct{ value ulid.ULID }

// UserAccount is a user account.
type UserAccount struct{}

// UserID identifies a user account in all aggregates.
type UserID = Of[UserAccount]

// Parse parses an id: a ULID of 26 Crockford characters in either case, or the UUID form of the same 16 bytes, which
// older data and clients use. Anything else is an [InvalidError].
func Parse[T any](text string) (Of[T], error) {
	if len(text) == len("01890535-c59c-72d5-08a8-dcea316374c8") {
		if value, ok := parseUUID(text); ok {
			return Of[T]{value}, nil
		}
	}
	value, err := ulid.ParseStrict(text)
	if err != nil || value.IsZero() {
		return Of[T]{}, &InvalidError{Field: "id", Reason: "must be a ULID of 26 characters"}
	}
	return Of[T]{value}, nil
}

// Canonical returns an id's text in its current form, that of [Of.String], from any form that [Parse] reads.
func Canonical(text string) (string, error) {
	id, err := Parse[any](text)
	return id.String(), err
}

// New returns an id made of a time, in milliseconds, and 80 random bits.
func New[T any](at time.Time, entropy [10]byte) Of[T] {
	var id Of[T]
	// Neither call fails: times before the year 10889 fit, and the entropy has the required length.
	_ = id.value.SetTime(ulid.Timestamp(at))
	_ = id.value.SetEntropy(entropy[:])
	return id
}

// FromULID returns the id with this value.
func FromULID[T any](value ulid.ULID) Of[T] { return Of[T]{value} }

// ULID returns the id's value.
func (id Of[T]) ULID() ulid.ULID { return id.value }

// String returns the text of the ULID; empty for the zero value.
func (id Of[T]) String() string {
	if id.IsZero() {
		return ""
	}
	return id.value.String()
}

// UnmarshalText implements [encoding.TextUnmarshaler] with [Parse].
func (id *Of[T]) UnmarshalText(text []byte) (err error) {
	*id, err = Parse[T](string(text))
	return err
}

// IsZero reports whether id identifies nothing.
func (id Of[T]) IsZero() bool { return id.value.IsZero() }

// Compare orders ids by creation time: -1, 0 or 1.
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
