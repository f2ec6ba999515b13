// Package graphql serves the read model as GraphQL: queries over GET and POST, subscriptions over WebSockets and
// server-sent events. caller.go determines who asks, and request.go parses a request into an operation. engine.go
// checks it against the schema and the limits (limits.go), and operation.go runs it within its time limit, after
// waiting for its consistency tokens and its turn. Resolvers (resolver.go, model.go) call usecase/query. The transports
// are handler.go (one answer), sse.go and websocket.go. They use gqlgen's executor; gqlgen's own transports do not
// follow their specifications (ADR 35). errors.go maps errors to codes.
//
// The schema is schema.graphqls with the schema files of extras, which have resolvers of their own. Package generated
// makes it executable. Package plain writes fields without resolvers.
package graphql

//go:generate go run ../../tools/graphqlgen gqlgen.yml
