package model

import (
	"encoding/base64"
	"strconv"
	"strings"

	"example.com/threads/domain/ident"
	"example.com/threads/usecase/query"
)

// The schema's connections and their edges.
type (
	ThreadConnection  = Connection[Thread]
	ThreadEdge        = Edge[Thread]
	MemberConnection  = Connection[Member]
	MemberEdge        = Edge[Member]
	MessageConnection = Connection[Message]
	MessageEdge       = Edge[Message]
	HistoryConnection = Connection[HistoryEntry]
	HistoryEdge       = Edge[HistoryEntry]
)

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

// PageInfo is the schema's PageInfo.
type PageInfo struct {
	HasNextPage     bool
	HasPreviousPage bool
	StartCursor     *string
	EndCursor       *string
}

// NewConnection converts a page of a list. kind is the list's kind.
func NewConnection[S interface{ Position() query.Position }, T any](kind ListKind, page query.Page[S], node func(S) T) Connection[T] {
	connection := Connection[T]{
		Edges:    make([]Edge[T], len(page.Items)),
		PageInfo: PageInfo{HasNextPage: page.HasNext, HasPreviousPage: page.HasPrevious},
	}
	for i, item := range page.Items {
		connection.Edges[i] = Edge[T]{Cursor: EncodeCursor(kind, item.Position()), Node: node(item)}
	}
	if n := len(connection.Edges); n > 0 {
		connection.PageInfo.StartCursor = &connection.Edges[0].Cursor
		connection.PageInfo.EndCursor = &connection.Edges[n-1].Cursor
	}
	return connection
}

// ListKind is the list that a cursor belongs to. Cursors of other lists are refused.
type ListKind string

// The kinds of lists.
const (
	ThreadList  ListKind = "threads"
	MemberList  ListKind = "members"
	MessageList ListKind = "messages"
	HistoryList ListKind = "history"
)

// EncodeCursor writes a position as a cursor, which is opaque to clients.
func EncodeCursor(kind ListKind, position query.Position) string {
	return base64.RawURLEncoding.EncodeToString([]byte(string(kind) + " " + strconv.FormatInt(position.At, 10) + " " + position.ID))
}

// DecodeCursor reads the cursor in the named argument. A cursor that is malformed or of another list is an
// [ident.InvalidError].
func DecodeCursor(kind ListKind, argument, cursor string) (query.Position, error) {
	text, err := base64.RawURLEncoding.DecodeString(cursor)
	parts := strings.Split(string(text), " ")
	if err == nil && len(parts) == 3 && parts[0] == string(kind) {
		at, atErr := strconv.ParseInt(parts[1], 10, 64)
		id, idErr := ident.Parse[struct{}](parts[2])
		if atErr == nil && idErr == nil {
			return query.Position{At: at, ID: id.String()}, nil
		}
	}
	return query.Position{}, &ident.InvalidError{Field: argument, Reason: "must be a cursor of this list, from an earlier answer"}
}
