package rest

import (
	"encoding/json"
	"errors"

	"github.com/danielgtaylor/huma/v2"

	"example.com/threads/domain/ident"
	"example.com/threads/domain/thread"
	"example.com/threads/domain/writing"
)

// The fields of request bodies. Each decodes itself from JSON, with an error that is read after the field's name, and
// defines its JSON Schema.
type (
	threadID  = idField[thread.Thread]
	userID    = idField[ident.UserAccount]
	messageID = idField[thread.Message]

	idField[T any] struct{ value ident.Of[T] }
	nameField      struct{ value thread.Name }
	textField      struct{ value thread.Text }
	roleField      struct{ value thread.Role }
)

const (
	ulidPattern = `^[0-7][0-9A-HJKMNP-TV-Za-hjkmnp-tv-z]{25}$`
	uuidPattern = `^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$`
	exampleID   = "01H42K4ABWQ5V2XQEP3A48VE0Z"
)

var errNotAnID = errors.New(`must be a ULID of 26 characters: as a string, in an object {"value": "<ulid>"}, or in the UUID form of the same 16 bytes`)

// bodyField is implemented by pointers to the fields of request bodies.
type bodyField interface {
	json.Unmarshaler
	// canonical returns the value in a single form, in whichever form it was sent.
	canonical() string
}

func (i *idField[T]) canonical() string { return i.value.String() }
func (n *nameField) canonical() string  { return n.value.String() }
func (t *textField) canonical() string  { return t.value.String() }
func (r *roleField) canonical() string  { return r.value.String() }

// UnmarshalJSON reads the forms that [idField.Schema] lists.
func (i *idField[T]) UnmarshalJSON(raw []byte) error {
	if raw[0] == '{' {
		inner, ok := onlyMember(raw, "value")
		if !ok {
			return errNotAnID
		}
		raw = inner
	}
	value, err := textOf(raw)
	if err != nil {
		return errNotAnID
	}
	if i.value, err = ident.Parse[T](value); err != nil {
		return errNotAnID
	}
	return nil
}

// UnmarshalJSON reads a name.
func (n *nameField) UnmarshalJSON(raw []byte) (err error) {
	n.value, err = parse(raw, writing.ParseName)
	return err
}

// UnmarshalJSON reads a text.
func (t *textField) UnmarshalJSON(raw []byte) (err error) {
	t.value, err = parse(raw, thread.ParseText)
	return err
}

// UnmarshalJSON reads a role.
func (r *roleField) UnmarshalJSON(raw []byte) (err error) {
	r.value, err = parse(raw, thread.ParseRole)
	return err
}

// parse reads a JSON string as a value of the domain.
func parse[V any](raw json.RawMessage, read func(string) (V, error)) (V, error) {
	var value V
	written, err := textOf(raw)
	if err != nil {
		return value, err
	}
	value, err = read(written)
	if invalid := (*ident.InvalidError)(nil); errors.As(err, &invalid) {
		err = errors.New(invalid.Reason)
	}
	return value, err
}

// Schema implements [huma.SchemaProvider]. All identifiers share one schema.
func (idField[T]) Schema(schemas huma.Registry) *huma.Schema {
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

// Schema implements [huma.SchemaProvider].
func (nameField) Schema(huma.Registry) *huma.Schema {
	return written(writing.MaxNameLength, "release planning")
}

// Schema implements [huma.SchemaProvider].
func (textField) Schema(huma.Registry) *huma.Schema {
	return written(thread.MaxTextLength, "Good morning!")
}

// Schema implements [huma.SchemaProvider].
func (roleField) Schema(huma.Registry) *huma.Schema {
	roles := []any{thread.RoleAdmin.String(), thread.RoleMember.String()}
	return &huma.Schema{Type: huma.TypeString, Enum: roles, Examples: roles[1:]}
}

func written(limit int, example string) *huma.Schema {
	least := 1
	return &huma.Schema{Type: huma.TypeString, MinLength: &least, MaxLength: &limit, Examples: []any{example}}
}
