package rest

import (
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"example.com/threads/domain/ident"
)

// field is a field of a request body: a Go type that has a reader, and tags that describe and limit it.
type field struct {
	name     string
	index    []int
	optional bool // with omitempty
	read     reader
	schema   *huma.Schema // from the type and the tags
}

// reader reads JSON into a value of a field's type. Its error is read after the field's name.
type reader func(into reflect.Value, raw json.RawMessage) error

var (
	anyID           = reflect.TypeFor[ident.Of[any]]()
	textUnmarshaler = reflect.TypeFor[encoding.TextUnmarshaler]()
	stringer        = reflect.TypeFor[fmt.Stringer]()
)

// isID reports whether t is an id: all have the same fields, whatever they identify.
func isID(t reflect.Type) bool { return t.ConvertibleTo(anyID) }

// readerOf returns the reader of a type; nil if values of the type can't be served.
func readerOf(t reflect.Type) reader {
	switch {
	case isID(t):
		return func(into reflect.Value, raw json.RawMessage) error { return readID(textOver(into), raw) }
	case t == reflect.TypeFor[time.Time]():
		return readTime
	case reflect.PointerTo(t).Implements(textUnmarshaler) && t.Implements(stringer):
		return readText // a value type
	}
	switch zero := reflect.Zero(t); {
	case t.Kind() == reflect.String:
		return func(into reflect.Value, raw json.RawMessage) error {
			text, err := textOf(raw)
			into.SetString(text)
			return err
		}
	case t.Kind() == reflect.Bool:
		return func(into reflect.Value, raw json.RawMessage) error {
			into.SetBool(string(raw) == "true")
			return check(into.Bool() || string(raw) == "false", "must be true or false")
		}
	case zero.CanInt():
		return func(into reflect.Value, raw json.RawMessage) error {
			number, err := strconv.ParseInt(string(raw), 10, t.Bits())
			into.SetInt(number)
			return check(err == nil, "must be a whole number of %d bits", t.Bits())
		}
	case zero.CanUint() && t.Kind() != reflect.Uintptr:
		return func(into reflect.Value, raw json.RawMessage) error {
			number, err := strconv.ParseUint(string(raw), 10, t.Bits())
			into.SetUint(number)
			return check(err == nil, "must be a whole number of %d bits that is not negative", t.Bits())
		}
	case zero.CanFloat():
		return func(into reflect.Value, raw json.RawMessage) error {
			number, err := strconv.ParseFloat(string(raw), t.Bits())
			into.SetFloat(number)
			return check(err == nil, "must be a number")
		}
	}
	return nil
}

func check(ok bool, format string, args ...any) error {
	if ok {
		return nil
	}
	return fmt.Errorf(format, args...)
}

func textOver(into reflect.Value) encoding.TextUnmarshaler {
	return into.Addr().Interface().(encoding.TextUnmarshaler)
}

func readText(into reflect.Value, raw json.RawMessage) error {
	text, err := textOf(raw)
	if err == nil {
		err = textOver(into).UnmarshalText([]byte(text))
	}
	if invalid := (*ident.InvalidError)(nil); errors.As(err, &invalid) {
		err = errors.New(invalid.Reason)
	}
	return err
}

func readTime(into reflect.Value, raw json.RawMessage) error {
	text, err := textOf(raw)
	at, failed := time.Parse(time.RFC3339, text)
	into.Set(reflect.ValueOf(at.UTC()))
	return check(err == nil && failed == nil, "must be a time in RFC 3339, such as 2026-02-28T12:00:00Z")
}

var errNotAnID = errors.New(`must be a ULID of 26 characters: as a string, in an object {"value": "<ulid>"}, or in the UUID form of the same 16 bytes`)

// readID reads the forms that [identifier.Schema] lists.
func readID(into encoding.TextUnmarshaler, raw json.RawMessage) error {
	if raw[0] == '{' {
		inner, ok := onlyMember(raw, "value")
		if !ok {
			return errNotAnID
		}
		raw = inner
	}
	text, err := textOf(raw)
	if err != nil || into.UnmarshalText([]byte(text)) != nil {
		return errNotAnID
	}
	return nil
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
	case v.Kind() == reflect.String:
		return v.String()
	case v.Kind() == reflect.Bool:
		return v.Bool()
	case v.CanInt():
		return v.Int()
	case v.CanUint():
		return v.Uint()
	}
	return v.Float()
}

// limited checks a value against the tags of its field.
func (f field) limited(v reflect.Value) error {
	if f.schema.Ref != "" {
		return nil // an id
	}
	var result huma.ValidateResult
	huma.Validate(nil, f.schema, huma.NewPathBuffer(nil, 0), huma.ModeWriteToServer, plain(v), &result)
	if len(result.Errors) == 0 {
		return nil
	}
	invalid := new(huma.ErrorDetail)
	errors.As(result.Errors[0], &invalid)
	return fmt.Errorf("is not allowed: %s", invalid.Message)
}

const (
	ulidPattern = `^[0-7][0-9A-HJKMNP-TV-Za-hjkmnp-tv-z]{25}$`
	uuidPattern = `^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$`
	exampleID   = "01H42K4ABWQ5V2XQEP3A48VE0Z"
)

// identifier has the schema that all ids share.
type identifier struct{}

// Schema implements [huma.SchemaProvider].
func (identifier) Schema(schemas huma.Registry) *huma.Schema {
	const shared = "Identifier"
	ulid := &huma.Schema{Type: huma.TypeString, Pattern: ulidPattern, Description: "A ULID."}
	schemas.Map()[shared] = &huma.Schema{
		AnyOf: []*huma.Schema{
			ulid,
			{Type: huma.TypeString, Pattern: uuidPattern, Description: "The UUID form of the same 16 bytes."},
			{
				Type: huma.TypeObject, Description: "The ULID in an object.", AdditionalProperties: false,
				Properties: map[string]*huma.Schema{"value": ulid}, Required: []string{"value"},
			},
		},
		Examples: []any{exampleID},
	}
	return &huma.Schema{Ref: schemaPrefix + shared}
}

// describeBody returns the schema of a request body, which [shapeOf] has taken.
func describeBody(schemas huma.Registry, body reflect.Type) *huma.Schema {
	for _, f := range reflect.VisibleFields(body) {
		if isID(f.Type) {
			schemas.RegisterTypeAlias(f.Type, reflect.TypeFor[identifier]())
		}
	}
	return schemas.Schema(body, true, "")
}
