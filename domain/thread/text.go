package thread

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"example.com/threads/domain/ident"
)

// Limits of what people write, in Unicode code points after trimming.
const (
	MaxNameLength = 64
	MaxTextLength = 4000
)

// Name is a thread's name: 1 to [MaxNameLength] code points on one line. The zero value is no name.
type Name struct{ value string }

// ParseName trims text and takes it as a name. White space alone, too many code points, control characters and
// broken UTF-8 are an [ident.InvalidError].
func ParseName(text string) (Name, error) {
	value, err := parseWriting("name", text, MaxNameLength, "")
	return Name{value}, err
}

// RecordedName takes a name as it stands in the journal: the limits may have been others when it was given.
func RecordedName(text string) Name { return Name{text} }

func (n Name) String() string { return n.value }

// Text is what a message says: 1 to [MaxTextLength] code points, newlines and tabs among them. The zero value is no
// text.
type Text struct{ value string }

// ParseText trims text and takes it as a message's text. White space alone, too many code points, control
// characters other than newline and tab, and broken UTF-8 are an [ident.InvalidError].
func ParseText(text string) (Text, error) {
	value, err := parseWriting("text", text, MaxTextLength, "\n\t")
	return Text{value}, err
}

// RecordedText takes a message's text as it stands in the journal: the limits may have been others when it was
// written.
func RecordedText(text string) Text { return Text{text} }

func (t Text) String() string { return t.value }

func parseWriting(field, text string, limit int, controlsAllowed string) (string, error) {
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
