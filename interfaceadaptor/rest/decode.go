package rest

import (
	"bytes"
	"encoding/json"
	"errors"
	"iter"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// FieldError describes one invalid field of a request.
type FieldError struct {
	Location string `json:"location" doc:"Where: the path of the field." example:"body.name"`
	Message  string `json:"message" doc:"What is expected, to be read after the field's name." example:"must not be empty"`
}

// bodyShape holds the fields of request bodies of type B by name, including embedded ones.
type bodyShape[B any] []reflect.StructField // each of a type whose pointer is a field

func shapeOf[B any]() bodyShape[B] {
	var fields bodyShape[B]
	for _, field := range reflect.VisibleFields(reflect.TypeFor[B]()) {
		if !field.Anonymous {
			fields = append(fields, field)
		}
	}
	return fields
}

// invalidBody is the error of a body with invalid fields.
type invalidBody []FieldError

func (invalidBody) Error() string { return "the request has invalid fields" }

// isJSON reports whether raw is exactly one JSON value in UTF-8.
func isJSON(raw []byte) bool { return utf8.Valid(raw) && json.Valid(raw) }

// decode decodes a body from raw, which must be JSON. absent has the values of optional fields. The error is an
// [invalidBody] with all problems: those of the fields in their order, then unknown members.
func (s bodyShape[B]) decode(raw []byte, absent map[string]json.RawMessage) (body B, err error) {
	members, ok := membersOf(raw)
	if !ok {
		return body, invalidBody{{"body", "must be a JSON object"}}
	}
	var invalid invalidBody
	for name, value := range s.fieldsOf(&body) {
		given := members.take(name)
		if left, optional := absent[name]; optional && len(given) == 0 {
			given = []json.RawMessage{left}
		}
		if err := readField(value, given); err != nil {
			invalid = append(invalid, FieldError{"body." + name, err.Error()})
		}
	}
	for _, unknown := range members {
		invalid = append(invalid, FieldError{"body." + unknown.name, "is not a field of this request"})
	}
	if len(invalid) > 0 {
		return body, invalid
	}
	return body, nil
}

// canonical returns a body in the form that is the same for every form that clients may send. Repeats are recognised by
// it, also after an update of the program.
func (s bodyShape[B]) canonical(body B) (string, error) {
	said := map[string]string{}
	for name, value := range s.fieldsOf(&body) {
		said[name] = value.canonical()
	}
	content, err := json.Marshal(said) // sorted by name
	return string(content), err
}

// fieldsOf yields the fields of a body with their names.
func (s bodyShape[B]) fieldsOf(body *B) iter.Seq2[string, bodyField] {
	return func(yield func(string, bodyField) bool) {
		value := reflect.ValueOf(body).Elem()
		for _, f := range s {
			if !yield(f.Tag.Get("json"), value.FieldByIndex(f.Index).Addr().Interface().(bodyField)) {
				return
			}
		}
	}
}

func readField(into bodyField, values []json.RawMessage) error {
	switch len(values) {
	case 0:
		return errors.New("is required")
	case 1:
		return into.UnmarshalJSON(values[0])
	default:
		return errors.New("must be given once")
	}
}

// bodyMembers are the members of a JSON object as written: in order, with repetitions.
type bodyMembers []bodyMember

type bodyMember struct {
	name  string
	value json.RawMessage
}

// membersOf splits a JSON object into its members; false if raw, which must be JSON, is not an object.
func membersOf(raw []byte) (all bodyMembers, ok bool) {
	rest, ok := bytes.CutPrefix(skipSpace(raw), []byte("{"))
	for rest = skipSpace(rest); ok && rest[0] != '}'; rest = skipSpace(bytes.TrimPrefix(rest, []byte(","))) {
		var next bodyMember
		var quoted json.RawMessage
		quoted, rest = cutValue(rest)
		next.value, rest = cutValue(rest[1:]) // after the colon
		next.name, _ = unquote(quoted)
		all = append(all, next)
	}
	return all, ok
}

// cutValue returns the first value in JSON, and what follows it, both without white space before them.
func cutValue(raw []byte) (value json.RawMessage, rest []byte) {
	raw = skipSpace(raw)
	end := len(raw)
	depth, quoted := 0, false
	for i := 0; i < end; i++ {
		switch c := raw[i]; {
		case quoted && c == '\\':
			i++ // what is escaped
		case quoted && c != '"':
		case c == '"':
			quoted = !quoted
			if !quoted && depth == 0 {
				end = i + 1
			}
		case c == '{' || c == '[':
			depth++
		case depth == 0 && strings.IndexByte(" \t\r\n:,}]", c) >= 0:
			end = i // of a number, true, false or null
		case c == '}' || c == ']':
			if depth--; depth == 0 {
				end = i + 1
			}
		}
	}
	return raw[:end:end], skipSpace(raw[end:])
}

func skipSpace(raw []byte) []byte { return bytes.TrimLeft(raw, " \t\r\n") }

// take removes the members with the name and returns their values.
func (m *bodyMembers) take(name string) (taken []json.RawMessage) {
	*m = slices.DeleteFunc(*m, func(of bodyMember) bool {
		if of.name == name {
			taken = append(taken, of.value)
		}
		return of.name == name
	})
	return taken
}

// onlyMember returns the value of the only member of the object raw, if it has that name.
func onlyMember(raw []byte, name string) (json.RawMessage, bool) {
	all, ok := membersOf(raw)
	if !ok || len(all) != 1 || all[0].name != name {
		return nil, false
	}
	return all[0].value, true
}

// textOf decodes a JSON string. encoding/json would replace an escaped half of a surrogate pair with U+FFFD and so
// change the client's text; here it is an error.
func textOf(raw json.RawMessage) (string, error) {
	if raw[0] != '"' {
		return "", errors.New("must be a string")
	}
	if hasHalfSurrogatePair(string(raw)) {
		return "", errors.New("must not contain half of a surrogate pair")
	}
	return unquote(raw)
}

// unquote decodes a JSON string.
func unquote(raw json.RawMessage) (value string, err error) {
	if bytes.IndexByte(raw, '\\') < 0 {
		return string(raw[1 : len(raw)-1]), nil // the usual one, without the work of the decoder
	}
	err = json.Unmarshal(raw, &value)
	return value, err
}

func hasHalfSurrogatePair(raw string) bool {
	for {
		start := strings.IndexByte(raw, '\\')
		if start < 0 {
			return false
		}
		raw = raw[start:]
		switch unit, isUnit := codeUnit(raw); {
		case !isUnit:
			raw = raw[len(`\n`):]
		case unit < 0xD800 || unit > 0xDFFF:
			raw = raw[len(`\u0000`):]
		default:
			low, isUnit := codeUnit(raw[len(`\u0000`):])
			if unit > 0xDBFF || !isUnit || low < 0xDC00 || low > 0xDFFF {
				return true
			}
			raw = raw[len(`\uD83D\uDE00`):]
		}
	}
}

// codeUnit reads the UTF-16 code unit of an escape such as \u00e9 at the start of raw.
func codeUnit(raw string) (uint64, bool) {
	if len(raw) < len(`\u0000`) || raw[0] != '\\' || raw[1] != 'u' {
		return 0, false
	}
	unit, err := strconv.ParseUint(raw[2:6], 16, 16)
	return unit, err == nil
}
