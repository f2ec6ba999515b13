package graphql

import "example.com/threads/usecase/query"

// Resolver resolves the core's fields of Query and Subscription.
type Resolver struct{ Queries *query.Queries }
