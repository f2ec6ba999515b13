package model

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/99designs/gqlgen/graphql"

	"example.com/threads/domain/thread"
)

// MarshalTime writes the scalar Time.
func MarshalTime(t time.Time) graphql.Marshaler {
	return graphql.WriterFunc(func(w io.Writer) {
		var room []byte // without an allocation in a [bytes.Buffer], which gqlgen writes answers into
		if buffer, is := w.(*bytes.Buffer); is {
			room = buffer.AvailableBuffer()
		}
		_, _ = w.Write(t.UTC().AppendFormat(room, `"2006-01-02T15:04:05.000000Z"`))
	})
}

// UnmarshalTime would read the scalar Time; nothing in the schema takes one.
func UnmarshalTime(any) (time.Time, error) {
	return time.Time{}, errors.New("a Time is never an argument")
}

// JSON is the schema's JSON: a value that is JSON already.
type JSON []byte

// MarshalGQL implements [graphql.Marshaler].
func (j JSON) MarshalGQL(w io.Writer) { _, _ = w.Write(j) }

// UnmarshalGQL implements [graphql.Unmarshaler]; nothing in the schema takes JSON.
func (j *JSON) UnmarshalGQL(any) error { return errors.New("JSON is never an argument") }

// Role is the schema's Role.
type Role thread.Role

// MarshalGQL implements [graphql.Marshaler].
func (r Role) MarshalGQL(w io.Writer) {
	name := `"MEMBER"`
	if thread.Role(r) == thread.RoleAdmin {
		name = `"ADMIN"`
	}
	_, _ = io.WriteString(w, name)
}

// UnmarshalGQL implements [graphql.Unmarshaler]; nothing in the schema takes a role.
func (r *Role) UnmarshalGQL(value any) error {
	return fmt.Errorf("a Role is never an argument, and %v is given", value)
}
