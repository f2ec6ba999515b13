// Package graphql serves the read model as GraphQL: queries over GET and POST, subscriptions over WebSockets and
// server-sent events. admit.go determines the principal, and viewer.go the viewer. params.go parses a request into an
// operation. engine.go checks the operation against the schema and the limits (limits.go). It runs it within its time
// limit, after waiting for its consistency tokens (operation.go) and its turn (turns.go). Resolvers call usecase/query.
// The transports are handler.go (one answer), sse.go, and websocket.go with socket.go. They use gqlgen's executor;
// gqlgen's own transports do not follow their specifications exactly. errors.go maps errors to codes.
//
// The schema is schema.graphqls with the schema files of extras, which have resolvers of their own. Package generated
// makes it executable, and package model holds the core's types. Package plain writes fields without resolvers.
package graphql

//go:generate go run ../../tools/graphqlgen gqlgen.yml
