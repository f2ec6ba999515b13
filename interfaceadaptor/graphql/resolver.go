package graphql

import (
	"example.com/threads/domain/ident"
	"example.com/threads/interfaceadaptor/graphql/model"
	"example.com/threads/usecase/query"
)

// Resolver resolves the core's fields of Query and Subscription.
type Resolver struct {
	queries *query.Queries
	history *query.History
}

// NewResolver returns the resolver over queries and history.
func NewResolver(queries *query.Queries, history *query.History) Resolver {
	return Resolver{queries, history}
}

// ParseID reads the id in the named argument.
func ParseID[T any](argument, text string) (ident.Of[T], error) {
	id, err := ident.Parse[T](text)
	if err != nil {
		return id, &ident.InvalidError{Field: argument, Reason: "must be a ULID of 26 characters"}
	}
	return id, nil
}

// pageAfter reads the length of a page, and the id of the last row of the previous page; zero: there is none.
func pageAfter[T any](first *int, after *string, usual int) (length int, last ident.Of[T], err error) {
	if length, err = limit("first", first, usual); err != nil || after == nil {
		return length, last, err
	}
	last, err = ParseID[T]("after", *after)
	return length, last, err
}

// limit returns the length of a page: the requested one or the default.
func limit(argument string, asked *int, usual int) (int, error) {
	if asked == nil {
		return usual, nil
	}
	return query.ParseLimit(argument, *asked)
}

// cursor reads a cursor; without one, the position is zero.
func cursor(kind model.ListKind, argument string, text *string) (query.Position, error) {
	if text == nil {
		return query.Position{}, nil
	}
	return model.DecodeCursor(kind, argument, *text)
}

// Forward returns the range after a cursor.
func Forward(kind model.ListKind, first *int, after *string) (query.Range, error) {
	n, err := limit("first", first, defaultPage)
	if err != nil {
		return query.Range{}, err
	}
	position, err := cursor(kind, "after", after)
	return query.Range{After: position, Limit: n}, err
}
