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
		var room []byte // saves an allocation: gqlgen writes answers into a [bytes.Buffer]
		if buffer, is := w.(*bytes.Buffer); is {
			room = buffer.AvailableBuffer()
		}
		_, _ = w.Write(t.UTC().AppendFormat(room, `"2006-01-02T15:04:05.000000Z"`))
	})
}

// UnmarshalTime always fails: no argument in the schema is a Time.
func UnmarshalTime(any) (time.Time, error) {
	return time.Time{}, errors.New("a Time is never an argument")
}

// JSON is the schema's scalar JSON: a value that is already encoded.
type JSON []byte

// MarshalGQL implements [graphql.Marshaler].
func (j JSON) MarshalGQL(w io.Writer) { _, _ = w.Write(j) }

// UnmarshalGQL implements [graphql.Unmarshaler]. It always fails: no argument in the schema is JSON.
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

// UnmarshalGQL implements [graphql.Unmarshaler]. It always fails: no argument in the schema is a Role.
func (r *Role) UnmarshalGQL(value any) error {
	return fmt.Errorf("a Role is never an argument, and %v is given", value)
}
