package writing

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"example.com/threads/domain/ident"
)

// MaxNameLength is the limit of a [Name], in Unicode code points after trimming.
const MaxNameLength = 64

// Name is what a person or a thing is called: 1 to [MaxNameLength] code points on one line. The zero value is no name.
type Name struct{ value string }

// ParseName trims text and takes it as a name. White space alone, too many code points, control characters and broken
// UTF-8 are an [ident.InvalidError].
func ParseName(text string) (Name, error) {
	value, err := Parse("name", text, MaxNameLength, "")
	return Name{value}, err
}

// RecordedName takes a name as it stands in the journal: the limits may have been others when it was given.
func RecordedName(text string) Name { return Name{text} }

func (n Name) String() string { return n.value }

// Parse trims text and returns it, or an [ident.InvalidError] of the field: for white space alone, more than limit code
// points, broken UTF-8, and control characters other than those of controlsAllowed.
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
