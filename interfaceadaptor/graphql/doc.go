// Package graphql serves the read model as GraphQL, over GET and POST. request.go determines who asks, and parses a
// request into an operation. handler.go checks that against the schema, runs it within its time limit after waiting for
// its consistency tokens, and writes the answer. stream.go has subscriptions, by server-sent events. Resolvers call
// usecase/query. The transports use gqlgen's executor; gqlgen's own do not follow their specifications. errors.go maps
// errors to codes.
//
// The schema is schema.graphqls with the schema files of extras, which have resolvers of their own. Package generated
// makes it executable. Package plain writes fields without resolvers.
package graphql

//go:generate go run ../../tools/graphqlgen gqlgen.yml
