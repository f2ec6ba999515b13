package rest

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"strconv"
	"strings"
	"unicode/utf8"
)

// FieldError describes one invalid field of a request.
type FieldError struct {
	Location string `json:"location" doc:"Where: the path of the field." example:"body.name"`
	Message  string `json:"message" doc:"What is expected, to be read after the field's name." example:"must not be empty"`
}

// shape holds the fields of request bodies of type B by name, including embedded ones.
type shape[B any] []reflect.StructField // each of a type whose pointer is a field

func shapeOf[B any]() shape[B] {
	var fields shape[B]
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

// decode decodes a body from raw, which must be JSON, and returns its fields in canonical form, which is the same for
// every form that clients may send. absent has the values of optional fields. The error is an [invalidBody] with all
// problems: those of the fields in their order, then unknown members.
func (s shape[B]) decode(raw []byte, absent map[string]json.RawMessage) (body B, said map[string]string, err error) {
	members, ok := membersOf(raw)
	if !ok {
		return body, nil, invalidBody{{"body", "must be a JSON object"}}
	}
	var invalid invalidBody
	said = map[string]string{}
	into := reflect.ValueOf(&body).Elem()
	for _, f := range s {
		name := f.Tag.Get("json")
		value := into.FieldByIndex(f.Index).Addr().Interface().(field)
		given := members.take(name)
		if left, optional := absent[name]; optional && len(given) == 0 {
			given = []json.RawMessage{left}
		}
		if err := readField(value, given); err != nil {
			invalid = append(invalid, FieldError{"body." + name, err.Error()})
		}
		said[name] = value.canonical()
	}
	for _, unknown := range members {
		invalid = append(invalid, FieldError{"body." + unknown.name, "is not a field of this request"})
	}
	if len(invalid) > 0 {
		return body, nil, invalid
	}
	return body, said, nil
}

func readField(into field, values []json.RawMessage) error {
	switch len(values) {
	case 0:
		return errors.New("is required")
	case 1:
		return into.UnmarshalJSON(values[0])
	default:
		return errors.New("must be given once")
	}
}

// members are the members of a JSON object as written: in order, with repetitions.
type members []member

type member struct {
	name  string
	value json.RawMessage
}

// membersOf splits a JSON object into its members; false if raw is not an object.
func membersOf(raw []byte) (members, bool) {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	if first, err := decoder.Token(); err != nil || first != json.Delim('{') {
		return nil, false
	}
	var all members
	for decoder.More() {
		name, err := decoder.Token()
		if err != nil {
			return nil, false
		}
		next := member{name: name.(string)}
		if err := decoder.Decode(&next.value); err != nil {
			return nil, false
		}
		all = append(all, next)
	}
	return all, true
}

// take removes the members with the name and returns their values.
func (m *members) take(name string) []json.RawMessage {
	var taken []json.RawMessage
	var rest members
	for _, member := range *m {
		if member.name == name {
			taken = append(taken, member.value)
		} else {
			rest = append(rest, member)
		}
	}
	*m = rest
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
	var value string
	err := json.Unmarshal(raw, &value)
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
