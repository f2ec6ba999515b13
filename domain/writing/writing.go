// Package writing holds texts that people write: trimmed, not empty, of limited length, with one line or several.
package writing

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"example.com/threads/domain/ident"
)

// MaxNameLength is the maximum length of a [Name], in Unicode code points after trimming.
const MaxNameLength = 64

// Name is the name of a person or thing: 1 to [MaxNameLength] code points on one line. The zero value is no name.
type Name struct{ value string }

// ParseName returns trimmed text as a name. One that is not allowed, such as one too long, is an
// [ident.InvalidError].
func ParseName(text string) (Name, error) {
	value, err := Parse("name", text, MaxNameLength, "")
	return Name{value}, err
}

// RecordedName returns a name from the journal unchecked, because it may have been written under other limits.
func RecordedName(text string) Name { return Name{text} }

func (n Name) String() string { return n.value }

// UnmarshalText implements [encoding.TextUnmarshaler] with [ParseName].
func (n *Name) UnmarshalText(text []byte) (err error) {
	*n, err = ParseName(string(text))
	return err
}

// Parse returns trimmed text. An empty one, more than limit code points, invalid UTF-8, and controls other than
// controlsAllowed are an [ident.InvalidError] for the field.
func Parse(field, text string, limit int, controlsAllowed string) (string, error) {
	text = strings.TrimSpace(text)
	invalid := func(reason string, args ...any) (string, error) {
		return "", &ident.InvalidError{Field: field, Reason: fmt.Sprintf(reason, args...)}
	}
	switch {
	case !utf8.ValidString(text):
		return invalid("must be valid UTF-8")
	case text == "":
		return invalid("must not be empty")
	case utf8.RuneCountInString(text) > limit:
		return invalid("must have at most %d characters", limit)
	}
	for _, r := range text {
		if unicode.IsControl(r) && !strings.ContainsRune(controlsAllowed, r) {
			return invalid("must not contain the control character %U", r)
		}
	}
	return text, nil
}
