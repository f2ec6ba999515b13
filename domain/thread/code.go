package thread

import "example.com/threads/domain/ident"

// maxCodeLength is the limit of a [Code], in bytes.
const maxCodeLength = 64

// Code is the short name by which people call a thread, such as THREAD-000001. It is unique within the tenant and never
// changes. The zero value is no code, as that of a thread from before there were codes.
type Code struct{ value string }

// ParseCode returns text as a code: 1 to 64 visible ASCII characters. Anything else is an [ident.InvalidError].
func ParseCode(text string) (Code, error) {
	invalid := text == "" || len(text) > maxCodeLength
	for _, b := range []byte(text) {
		invalid = invalid || b <= ' ' || b > '~'
	}
	if invalid {
		return Code{}, &ident.InvalidError{Field: "code", Reason: "must be 1 to 64 visible ASCII characters, such as THREAD-000001"}
	}
	return Code{text}, nil
}

// RecordedCode returns a code from the journal or a row, unchecked; empty text is no code.
func RecordedCode(text string) Code { return Code{text} }

func (c Code) String() string { return c.value }
