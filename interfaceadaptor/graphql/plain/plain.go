// Package plain writes values straight into the answer if all selected fields are plain struct fields. gqlgen would
// resolve every element of a list in a goroutine of its own, which costs more than the query behind the list.
//
// tools/graphqlgen generates the tables of fields from the schema (generated/plain.go). If a selection has a field that
// needs a resolver, there is no [Writer], and gqlgen resolves the value as usual.
package plain

import (
	"context"
	"fmt"
	"io"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
)

// Writer writes a T as JSON.
type Writer[T any] func(w io.Writer, v *T)

// Fields returns the writer of a field's value, without its name; nil: the field needs a resolver.
type Fields[T any] func(operation *graphql.OperationContext, field graphql.CollectedField) Writer[T]

// Type is an object type of the schema.
type Type[T any] struct {
	Names  []string // its own first, then those of its interfaces
	Fields Fields[T]
}

type member[T any] struct {
	key   []byte // `,"name":`
	value Writer[T]
}

// Select returns the writer of the selected fields; nil: one of them needs a resolver.
func (t Type[T]) Select(operation *graphql.OperationContext, selected ast.SelectionSet) Writer[T] {
	fields := graphql.CollectFields(operation, selected, t.Names)
	members := make([]member[T], len(fields))
	for i, field := range fields {
		value := t.Fields(operation, field)
		if field.Name == "__typename" {
			value = func(w io.Writer, _ *T) { graphql.MarshalString(t.Names[0]).MarshalGQL(w) }
		}
		if value == nil {
			return nil
		}
		members[i] = member[T]{fmt.Appendf(nil, `,"%s":`, field.Alias), value}
	}
	if len(members) > 0 {
		members[0].key[0] = '{'
	}
	return func(w io.Writer, v *T) {
		for i := range members {
			_, _ = w.Write(members[i].key)
			members[i].value(w, v)
		}
		if len(members) == 0 {
			_, _ = io.WriteString(w, "{")
		}
		_, _ = io.WriteString(w, "}")
	}
}

// Nullable is a field with a scalar or null.
func Nullable[T, V any](of func(*T) *V, marshal func(V) graphql.Marshaler) Writer[T] {
	return orNull(of, func(w io.Writer, value *V) { marshal(*value).MarshalGQL(w) })
}

func orNull[T, V any](of func(*T) *V, write Writer[V]) Writer[T] {
	return func(w io.Writer, v *T) {
		if value := of(v); value != nil {
			write(w, value)
		} else {
			graphql.Null.MarshalGQL(w)
		}
	}
}

// One is a field with an object or null.
func One[T, V any](operation *graphql.OperationContext, field graphql.CollectedField, of func(*T) *V, object Type[V]) Writer[T] {
	if write := object.Select(operation, field.Selections); write != nil {
		return orNull(of, write)
	}
	return nil
}

// Many is a field with a list of objects.
func Many[T, V any](operation *graphql.OperationContext, field graphql.CollectedField, of func(*T) []V, object Type[V]) Writer[T] {
	write := object.Select(operation, field.Selections)
	if write == nil {
		return nil
	}
	return func(w io.Writer, v *T) {
		_, _ = io.WriteString(w, "[")
		values := of(v)
		for i := range values {
			if i > 0 {
				_, _ = io.WriteString(w, ",")
			}
			write(w, &values[i])
		}
		_, _ = io.WriteString(w, "]")
	}
}

// Value writes the value that a resolver returned for the context's field; nil: gqlgen must write it, as nil values.
func Value[T any](ctx context.Context, value *T, object Type[T]) graphql.Marshaler {
	write := object.Select(graphql.GetOperationContext(ctx), graphql.GetFieldContext(ctx).Field.Selections)
	if write == nil || value == nil {
		return nil
	}
	return graphql.WriterFunc(func(w io.Writer) { write(w, value) })
}

// Values is Value for a list.
func Values[T any](ctx context.Context, values []T, object Type[T]) graphql.Marshaler {
	list := func(v *[]T) []T { return *v }
	write := Many(graphql.GetOperationContext(ctx), graphql.GetFieldContext(ctx).Field, list, object)
	if write == nil {
		return nil
	}
	return graphql.WriterFunc(func(w io.Writer) { write(w, &values) })
}
