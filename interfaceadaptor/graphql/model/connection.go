package model

import "example.com/threads/usecase/query"

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
	TaskConnection    = Connection[Task]
	TaskEdge          = Edge[Task]
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
