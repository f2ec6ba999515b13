package graphql

import (
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
