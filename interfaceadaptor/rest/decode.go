package rest

import (
	"bytes"
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"

	"example.com/threads/domain/ident"
)

// FieldError describes one invalid field of a request.
type FieldError struct {
	Location string `json:"location" doc:"Where: the path of the field." example:"body.name"`
	Message  string `json:"message" doc:"What is expected, to be read after the field's name." example:"must not be empty"`
}

type invalidBody []FieldError

const maxUnknown = 20 // fields that an answer names

func (invalidBody) Error() string { return "the request has invalid fields" }

// bodyShape holds the fields of a type of request bodies, including embedded ones.
type bodyShape []field

// field is a field of a request body: a Go type that can be read, and tags that describe and limit it.
type field struct {
	name     string
	index    []int
	optional bool         // with omitempty
	schema   *huma.Schema // from the type and the tags
}

// shapeOf returns the fields of a type of bodies, or why they can't be served.
func shapeOf(body reflect.Type) (shape bodyShape, err error) {
	schemas := huma.NewMapRegistry(schemaPrefix, huma.DefaultSchemaNamer)
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
		f := field{name: name, index: at.Index, optional: option == "omitempty"}
		switch {
		case !isServable(at.Type):
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

// isID reports whether t is an id: all have the same fields, whatever they identify.
func isID(t reflect.Type) bool { return t.ConvertibleTo(reflect.TypeFor[ident.Of[any]]()) }

// isServable reports whether [field.read] and [plain] know values of the type.
func isServable(t reflect.Type) bool {
	_, isText := reflect.New(t).Interface().(encoding.TextUnmarshaler)
	_, isString := reflect.Zero(t).Interface().(fmt.Stringer)
	number := reflect.Zero(t).CanInt() || reflect.Zero(t).CanUint() && t.Kind() != reflect.Uintptr || reflect.Zero(t).CanFloat()
	return isText && isString || number || t.Kind() == reflect.String || t.Kind() == reflect.Bool
}

// isJSON reports whether raw is exactly one JSON value in UTF-8.
func isJSON(raw []byte) bool { return utf8.Valid(raw) && json.Valid(raw) }

// decode decodes a body from JSON. leftOut has values for fields that a caller may leave out: its account. Its
// [invalidBody] has all problems.
func (s bodyShape) decode(body reflect.Value, raw []byte, leftOut map[string]json.RawMessage) error {
	members, ok := membersOf(raw)
	if !ok {
		return invalidBody{{"body", "must be a JSON object"}}
	}
	var invalid invalidBody
	for _, f := range s {
		given := members.Take(f.name)
		if value, may := leftOut[f.name]; may && len(given) == 0 {
			given = []json.RawMessage{value}
		}
		if err := f.take(body.FieldByIndex(f.index), given...); err != nil {
			invalid = append(invalid, FieldError{"body." + f.name, err.Error()})
		}
	}
	for i, unknown := range members {
		if i == maxUnknown {
			invalid = append(invalid, FieldError{"body", fmt.Sprintf("has %d more fields that are not of this request", len(members)-i)})
			break
		}
		invalid = append(invalid, FieldError{"body." + unknown.Name, "is not a field of this request"})
	}
	if len(invalid) > 0 {
		return invalid
	}
	return nil
}

// canonical returns a body in one form for all forms that clients may send: repeats are recognised by it.
func (s bodyShape) canonical(body reflect.Value) (string, error) {
	said := map[string]string{}
	for _, f := range s {
		if value := body.FieldByIndex(f.index); !f.optional || !value.IsZero() {
			said[f.name] = fmt.Sprint(plain(value))
		}
	}
	content, err := json.Marshal(said) // sorted by name
	return string(content), err
}

// plain returns a value as JSON has it: a bool, a number or a text, in one form for all forms that clients may send.
func plain(v reflect.Value) any {
	switch of := v.Interface().(type) {
	case time.Time:
		return of.Format(time.RFC3339Nano)
	case fmt.Stringer:
		return of.String()
	}
	switch {
	case v.Kind() == reflect.Bool:
		return v.Bool()
	case v.CanInt():
		return v.Int()
	case v.CanUint():
		return v.Uint()
	case v.CanFloat():
		return v.Float()
	}
	return v.String()
}

// take reads the values that a body has for the field, and checks them against its tags.
func (f field) take(into reflect.Value, values ...json.RawMessage) error {
	switch {
	case len(values) == 0 && f.optional:
		return nil
	case len(values) == 0:
		return errors.New("is required")
	case len(values) > 1:
		return errors.New("must be given once")
	}
	if err := f.read(into, values[0]); err != nil || f.schema.Ref != "" { // an id has no limits
		return err
	}
	var result huma.ValidateResult
	huma.Validate(nil, f.schema, huma.NewPathBuffer(nil, 0), huma.ModeWriteToServer, plain(into), &result)
	if len(result.Errors) == 0 {
		return nil
	}
	invalid, _ := errors.AsType[*huma.ErrorDetail](result.Errors[0])
	return fmt.Errorf("is not allowed: %s", invalid.Message)
}

// expected is what the JSON of a value must be, by the type of its schema.
var expected = map[string]string{
	huma.TypeString: "a string", huma.TypeBoolean: "true or false", huma.TypeInteger: "a whole number in the range of its format", huma.TypeNumber: "a number",
}

// read reads JSON. Its error is read after the field's name.
func (f field) read(into reflect.Value, raw json.RawMessage) error {
	value := into.Addr().Interface()
	if isID(into.Type()) {
		return readID(value, raw)
	}
	if hasHalfSurrogate(raw) {
		return errors.New("must not contain half of a surrogate pair")
	}
	err := json.Unmarshal(raw, value)
	at, isTime := value.(*time.Time)
	var invalid *ident.InvalidError
	switch {
	case errors.As(err, &invalid):
		return errors.New(invalid.Reason)
	case isTime && (err != nil || raw[0] == 'n'):
		return errors.New("must be a time in RFC 3339, such as 2026-02-28T12:00:00Z")
	case raw[0] == 'n' || errors.As(err, new(*json.UnmarshalTypeError)):
		return errors.New("must be " + expected[f.schema.Type])
	case isTime:
		*at = at.UTC()
	}
	return err
}

var errNotAnID = errors.New(`must be a ULID of 26 characters: as a string, in an object {"value": "<ulid>"}, or in the UUID form of the same 16 bytes`)

// readID reads the forms that [identifier.Schema] lists.
func readID(into any, raw json.RawMessage) error {
	if members, is := membersOf(raw); is {
		if len(members) != 1 || members[0].Name != "value" {
			return errNotAnID
		}
		raw = members[0].Value
	}
	if raw[0] != '"' || json.Unmarshal(raw, into) != nil {
		return errNotAnID
	}
	return nil
}

var (
	otherEscapes  = regexp.MustCompile(`(?i)\\\\|\\ud[89ab]..\\ud[c-f]`) // a backslash; a pair up to its last digits
	halfSurrogate = regexp.MustCompile(`(?i)\\ud[89a-f]`)
)

// hasHalfSurrogate reports whether raw is a string with half a surrogate pair, which encoding/json would replace.
func hasHalfSurrogate(raw json.RawMessage) bool {
	return raw[0] == '"' && bytes.Contains(raw, []byte(`\u`)) && halfSurrogate.Match(otherEscapes.ReplaceAll(raw, nil))
}

// Members are the members of a JSON object as written: in order, with repetitions.
type Members []Member

type Member struct {
	Name  string
	Value json.RawMessage
}

// MembersOf splits a JSON object into its members; false if raw is not exactly one object in UTF-8. // extra:tasks {
func MembersOf(raw []byte) (all Members, ok bool) {
	if !isJSON(raw) {
		return nil, false
	}
	return membersOf(raw)
} // extra:tasks }

// membersOf splits a JSON object into its members; false if raw, which must be JSON, is no object.
func membersOf(raw []byte) (all Members, ok bool) {
	object := json.NewDecoder(bytes.NewReader(raw)) // without errors: raw is JSON
	if begin, _ := object.Token(); begin != json.Delim('{') {
		return nil, false
	}
	for object.More() {
		var next Member
		name, _ := object.Token()
		next.Name, _ = name.(string)
		_ = object.Decode(&next.Value)
		all = append(all, next)
	}
	return all, true
}

// Take removes the members with the name and returns their values.
func (m *Members) Take(name string) (taken []json.RawMessage) {
	*m = slices.DeleteFunc(*m, func(of Member) bool {
		if of.Name == name {
			taken = append(taken, of.Value)
		}
		return of.Name == name
	})
	return taken
}

// ExecutorOf returns the user account that a JSON body names as its executor; zero: none, or none to read. // extra:tasks {
func ExecutorOf(body []byte) (executor ident.UserID) {
	members, _ := MembersOf(body)
	if named := members.Take(executorField); len(named) != 1 || readID(&executor, named[0]) != nil {
		return ident.UserID{}
	}
	return executor
} // extra:tasks }
