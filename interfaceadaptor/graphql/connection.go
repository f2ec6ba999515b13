package graphql

import (
	"encoding/base64"
	"fmt"
	"strconv"

	"example.com/threads/domain/ident"
	"example.com/threads/usecase/query"
)

// DefaultPage is the length of a page of a connection that is asked for neither first nor last.
const DefaultPage = 50

// Connection is a page of a list.
type Connection[T any] struct {
	Edges    []Edge[T]
	PageInfo PageInfo
}

// Edge is a row of a list with its cursor.
type Edge[T any] struct {
	Cursor string
	Node   T
}

type PageInfo struct {
	HasNextPage     bool
	HasPreviousPage bool
	StartCursor     *string
	EndCursor       *string
}

// NewConnection converts a page of a list.
func NewConnection[S query.Positioned, T any](cursors Cursors, page query.Page[S], node func(S) T) Connection[T] {
	connection := Connection[T]{
		Edges:    each(page.Items, func(item S) Edge[T] { return Edge[T]{cursors.encode(item.Position()), node(item)} }),
		PageInfo: PageInfo{HasNextPage: page.HasNext, HasPreviousPage: page.HasPrevious},
	}
	if n := len(connection.Edges); n > 0 {
		connection.PageInfo.StartCursor = &connection.Edges[0].Cursor
		connection.PageInfo.EndCursor = &connection.Edges[n-1].Cursor
	}
	return connection
}

// Cursors names the list that cursors belong to. Those of other lists are refused.
type Cursors string

// encode writes a position as a cursor, which is opaque to clients.
func (c Cursors) encode(position query.Position) string {
	return base64.RawURLEncoding.EncodeToString([]byte(string(c) + " " + strconv.FormatInt(position.At, 10) + " " + position.ID))
}

// decode reads the cursor in the named argument; nil is the zero position. It is an [ident.InvalidError] if not ours.
func (c Cursors) decode(argument string, cursor *string) (position query.Position, err error) {
	if cursor == nil {
		return position, nil
	}
	text, _ := base64.RawURLEncoding.DecodeString(*cursor)
	_, _ = fmt.Sscanf(string(text), string(c)+" %d %s", &position.At, &position.ID)
	if id, _ := ident.Canonical(position.ID); position.At < 0 || id == "" || id != position.ID || c.encode(position) != *cursor {
		return query.Position{}, &ident.InvalidError{Field: argument, Reason: "must be a cursor of this list, from an earlier answer"}
	}
	return position, nil
}

// Forward returns the range after a cursor.
func Forward(cursors Cursors, first *int, after *string) (page query.Range, err error) {
	if page.Limit, err = limit("first", first, DefaultPage); err == nil {
		page.After, err = cursors.decode("after", after)
	}
	return page, err
}

// EitherWay returns the page at the start or the end of a range between two cursors.
func EitherWay(cursors Cursors, first *int, after *string, last *int, before *string) (page query.Range, err error) {
	if first != nil && last != nil {
		return page, &ident.InvalidError{Field: "first and last", Reason: "exclude each other: set one of them"}
	}
	if page, err = Forward(cursors, first, after); err != nil {
		return page, err
	}
	if last != nil {
		page.Backward = true
		if page.Limit, err = limit("last", last, DefaultPage); err != nil {
			return page, err
		}
	}
	page.Before, err = cursors.decode("before", before)
	return page, err
}
