// Package generated makes the schema executable: ../schema.graphqls with the schema files of the extras. gqlgen writes
// generated.go, and tools/graphqlgen plain.go with the fields that need no resolver: `go generate` in the folder above.
// Only root.go is written by hand: it joins the resolvers.
package generated

import (
	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"

	"example.com/threads/interfaceadaptor/graphql"
)

// Resolvers resolve all fields of Query and Subscription: the core's and those of extras.
type Resolvers interface {
	QueryResolver
	SubscriptionResolver
}

// Schema returns a new copy of the API's schema, without @defer: an answer has one part.
func Schema() *ast.Schema {
	schema := gqlparser.MustLoadSchema(sources...)
	delete(schema.Directives, "defer")
	return schema
}

// Executable returns a schema, which may be a changed [Schema], with its resolvers.
func Executable(schema *ast.Schema, resolvers Resolvers) graphql.Executable {
	return graphql.Executable{ExecutableSchema: NewExecutableSchema(Config{Schema: schema, Resolvers: root{resolvers}}), Plain: Plain}
}

type root struct{ resolvers Resolvers }

// Query implements [ResolverRoot].
func (r root) Query() QueryResolver { return r.resolvers }

// Subscription implements [ResolverRoot].
func (r root) Subscription() SubscriptionResolver { return r.resolvers }
