package rest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"
)

// FieldError describes one invalid field of a request.
type FieldError struct {
	Location string `json:"location" doc:"Where: the path of the field." example:"body.name"`
	Message  string `json:"message" doc:"What is expected, to be read after the field's name." example:"must not be empty"`
}

// bodyShape holds the fields of request bodies of type B, including embedded ones.
type bodyShape[B any] []field

// shapeOf returns the fields of B, or why B can't be served.
func shapeOf[B any]() (shape bodyShape[B], err error) {
	body, schemas := reflect.TypeFor[B](), huma.NewMapRegistry(schemaPrefix, huma.DefaultSchemaNamer)
	var at reflect.StructField
	defer func() {
		if wrong := recover(); wrong != nil { // huma's, for a tag that contradicts the type
			err = fmt.Errorf("field %s of %s: %v", at.Name, body, wrong)
		}
	}()
	for _, at = range reflect.VisibleFields(body) {
		if at.Anonymous && at.IsExported() && at.Type.Kind() == reflect.Struct {
			continue // its fields follow
		}
		name, option, _ := strings.Cut(at.Tag.Get("json"), ",")
		f := field{name: name, index: at.Index, optional: option == "omitempty", read: readerOf(at.Type)}
		switch {
		case f.read == nil:
			panic(fmt.Sprintf("values of type %s can't be served", at.Type))
		case !at.IsExported() || name == "" || name == "-" || option != "" && !f.optional:
			panic(`it must be exported and have a tag such as json:"name" or json:"name,omitempty"`)
		case slices.ContainsFunc(shape, func(f field) bool { return f.name == name }):
			panic("another field has its name, too")
		}
		if isID(at.Type) {
			schemas.RegisterTypeAlias(at.Type, reflect.TypeFor[identifier]())
		}
		f.schema = huma.SchemaFromField(schemas, at, "")
		for _, example := range append(f.schema.Examples, f.schema.Enum...) {
			raw, _ := json.Marshal(example)
			if err := f.take(reflect.New(at.Type).Elem(), raw); err != nil {
				panic(fmt.Sprintf("the tags have the value %s, which %v", raw, err))
			}
		}
		shape = append(shape, f)
	}
	return shape, nil
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
	target := reflect.ValueOf(&body).Elem()
	for _, f := range s {
		given := members.take(f.name)
		if left, optional := absent[f.name]; optional && len(given) == 0 {
			given = []json.RawMessage{left}
		}
		if err := f.take(target.FieldByIndex(f.index), given...); err != nil {
			invalid = append(invalid, FieldError{"body." + f.name, err.Error()})
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
	for _, f := range s {
		if value := reflect.ValueOf(body).FieldByIndex(f.index); !f.optional || !value.IsZero() {
			said[f.name] = fmt.Sprint(plain(value))
		}
	}
	content, err := json.Marshal(said) // sorted by name
	return string(content), err
}

// take reads the values that a body has for the field.
func (f field) take(into reflect.Value, values ...json.RawMessage) error {
	switch {
	case len(values) == 0 && f.optional:
		return nil
	case len(values) == 0:
		return errors.New("is required")
	case len(values) > 1:
		return errors.New("must be given once")
	}
	if err := f.read(into, values[0]); err != nil {
		return err
	}
	return f.limited(into)
}

// bodyMembers are the members of a JSON object as written: in order, with repetitions.
type bodyMembers []bodyMember

type bodyMember struct {
	name  string
	value json.RawMessage
}

// membersOf splits a JSON object into its members; false if raw, which must be JSON, is not an object.
func membersOf(raw []byte) (all bodyMembers, ok bool) {
	object := json.NewDecoder(bytes.NewReader(raw))
	if start, _ := object.Token(); start != json.Delim('{') {
		return nil, false
	}
	for object.More() {
		var next bodyMember
		name, _ := object.Token() // no error: raw is JSON
		next.name, _ = name.(string)
		_ = object.Decode(&next.value)
		all = append(all, next)
	}
	return all, true
}

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
	if bytes.IndexByte(raw, '\\') >= 0 && hasHalfSurrogatePair(string(raw)) {
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

var surrogates = regexp.MustCompile(`(?i)\\ud[89ab]..\\ud[c-f]..|\\ud[89a-f]..`)

// hasHalfSurrogatePair reports whether an escaped half is without the other one.
func hasHalfSurrogatePair(raw string) bool {
	raw = strings.ReplaceAll(raw, `\\`, "  ") // an escaped backslash begins no other escape
	return slices.ContainsFunc(surrogates.FindAllString(raw, -1), func(found string) bool { return len(found) == len(`\ud83d`) })
}
