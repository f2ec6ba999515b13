package graphql

import (
	"errors"
	"io"
	"time"

	"github.com/99designs/gqlgen/graphql"
)

func each[S, T any](items []S, convert func(S) T) []T {
	converted := make([]T, len(items))
	for i, item := range items {
		converted[i] = convert(item)
	}
	return converted
}

// errNoArgument is the error of reading a scalar that no argument in the schema has.
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
