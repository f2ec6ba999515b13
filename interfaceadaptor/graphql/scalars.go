package graphql

import (
	"errors"
	"io"
	"time"

	"github.com/99designs/gqlgen/graphql"
)

var errNoArgument = errors.New("this type is never an argument")

// MarshalTime writes the scalar Time.
func MarshalTime(t time.Time) graphql.Marshaler {
	return graphql.WriterFunc(func(w io.Writer) {
		_, _ = io.WriteString(w, t.UTC().Format(`"2006-01-02T15:04:05.000000Z"`))
	})
}

// UnmarshalTime always fails.
func UnmarshalTime(any) (time.Time, error) { return time.Time{}, errNoArgument }

// MarshalJSON writes the scalar JSON: a value that is already encoded.
func MarshalJSON(encoded []byte) graphql.Marshaler {
	return graphql.WriterFunc(func(w io.Writer) { _, _ = w.Write(encoded) })
}

// UnmarshalJSON always fails.
func UnmarshalJSON(any) ([]byte, error) { return nil, errNoArgument }
