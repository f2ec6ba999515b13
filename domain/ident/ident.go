// Package ident holds what aggregates share: identifiers, and errors that reject a value or a command.
package ident

import (
	"encoding/hex"
	"fmt"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"
)

// Of identifies a T by a ULID. Ids of different things have different types. The zero value identifies nothing.
type Of[T any] struct{ value ulid.ULID }

type UserAccount struct{}

// UserID identifies a user account in all aggregates.
type UserID = Of[UserAccount]

// Parse parses an id: a ULID in either case, or the UUID form of the same bytes. Anything else is an [InvalidError].
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

// FromULID returns the id with this value. // extra:tenants {
func FromULID[T any](value ulid.ULID) Of[T] { return Of[T]{value} } // extra:tenants }

func (id Of[T]) ULID() ulid.ULID { return id.value }

// String returns the text of the ULID; empty for the zero value.
func (id Of[T]) String() string {
	if id.IsZero() {
		return ""
	}
	return id.value.String()
}

// MarshalText implements [encoding.TextMarshaler] with [Of.String].
func (id Of[T]) MarshalText() ([]byte, error) { return []byte(id.String()), nil }

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

// InvalidError: a value is not valid for its type.
type InvalidError struct {
	Field  string // name of the value, as used in the domain
	Reason string // what is expected; read after the field's name
}

func (e *InvalidError) Error() string { return fmt.Sprintf("%s %s", e.Field, e.Reason) }

// Invalid returns the field and what is expected of it.
func (e *InvalidError) Invalid() (field, reason string) { return e.Field, e.Reason }

// Rejection is the reason why a well-formed command is rejected, declared once and compared with [errors.Is].
type Rejection struct{ class, code, text string }

// NotFound declares a rejection: something does not exist for the caller. code is for programs, text for people.
func NotFound(code, text string) *Rejection { return &Rejection{"not_found", code, text} }

// Forbidden declares a rejection because the caller lacks the right.
func Forbidden(code, text string) *Rejection { return &Rejection{"forbidden", code, text} }

// Conflict declares a rejection because the command contradicts the state.
func Conflict(code, text string) *Rejection { return &Rejection{"conflict", code, text} }

func (r *Rejection) Error() string { return r.text }

// Class returns what the caller can do about it: not_found, forbidden or conflict.
func (r *Rejection) Class() string { return r.class }

// Code returns the rejection's code. It is part of the API contract and must never change.
func (r *Rejection) Code() string { return r.code }
