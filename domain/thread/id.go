package thread

import (
	"encoding/hex"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"
)

// IDOf identifies one T by a ULID. The zero value identifies nothing; [IDOf.IsZero] tells.
type IDOf[T any] struct{ value ulid.ULID }

// The identifiers of the domain. They are distinct types: a member's id is never taken for a message's.
type (
	ID        = IDOf[Thread]
	MemberID  = IDOf[Member]
	MessageID = IDOf[Message]
	UserID    = IDOf[UserAccount]
	EventID   = IDOf[Event]
)

// UserAccount is who acts. It lives outside this system; threads know its id only.
type UserAccount struct{}

// ParseID reads an identifier: the 26 Crockford characters of a ULID in either case, or the UUID form of the same
// 16 bytes, which older data and clients use. Anything else is an [InvalidError].
func ParseID[T any](text string) (IDOf[T], error) {
	if len(text) == len("01890535-c59c-72d5-08a8-dcea316374c8") {
		if value, ok := parseUUID(text); ok {
			return IDOf[T]{value}, nil
		}
	}
	value, err := ulid.ParseStrict(strings.ToUpper(text))
	if err != nil || value.IsZero() {
		return IDOf[T]{}, &InvalidError{Field: "id", Reason: "must be a ULID of 26 characters"}
	}
	return IDOf[T]{value}, nil
}

// NewID makes an identifier from a time, to the millisecond, and 80 random bits.
func NewID[T any](at time.Time, entropy [10]byte) IDOf[T] {
	var id IDOf[T]
	// Neither fails: the time is far from the year 10889, and the entropy is as long as it must be.
	_ = id.value.SetTime(ulid.Timestamp(at))
	_ = id.value.SetEntropy(entropy[:])
	return id
}

// String is the ULID text, and empty for the zero value.
func (id IDOf[T]) String() string {
	if id.IsZero() {
		return ""
	}
	return id.value.String()
}

// IsZero tells that id identifies nothing.
func (id IDOf[T]) IsZero() bool { return id.value.IsZero() }

// Compare orders identifiers by the time of their making: -1, 0 or 1.
func (id IDOf[T]) Compare(other IDOf[T]) int { return id.value.Compare(other.value) }

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
