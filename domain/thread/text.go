package thread

import (
	"crypto/sha256"

	"example.com/threads/domain/writing"
)

// MaxTextLength is the limit of a [Text], in Unicode code points after trimming.
const MaxTextLength = 4000

// Name is a thread's name.
type Name = writing.Name

// Text is what a message says: 1 to [MaxTextLength] code points, newlines and tabs among them. The zero value is no
// text.
type Text struct{ value string }

// ParseText trims text and takes it as a message's text. White space alone, too many code points, control characters
// other than newline and tab, and broken UTF-8 are an ident.InvalidError.
func ParseText(written string) (Text, error) {
	value, err := writing.Parse("text", written, MaxTextLength, "\n\t")
	return Text{value}, err
}

// RecordedText takes a message's text as it stands in the journal: the limits may have been others when it was
// written.
func RecordedText(written string) Text { return Text{written} }

func (t Text) String() string { return t.value }

// UnmarshalText implements [encoding.TextUnmarshaler] with [ParseText].
func (t *Text) UnmarshalText(text []byte) (err error) {
	*t, err = ParseText(string(text))
	return err
}

// TextDigest is the first 8 bytes of a text's SHA-256. The state keeps it instead of the text, to tell whether an edit
// changes anything.
type TextDigest [8]byte

// Digest returns the digest of the text.
func (t Text) Digest() TextDigest {
	sum := sha256.Sum256([]byte(t.value))
	return TextDigest(sum[:])
}
