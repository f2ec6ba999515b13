// Package graphql serves the read model as GraphQL: queries over GET and POST, subscriptions over WebSockets and
// server-sent events. admit.go determines the principal, and viewer.go the viewer. params.go parses a request into an
// operation. engine.go checks it against schema and limits (limits.go) and runs it within its time limit, after the
// wait for its consistency tokens (operation.go) and for its turn (turns.go); resolvers call usecase/query. The
// transports are handler.go (one answer), sse.go, and websocket.go with socket.go. They are our own, on gqlgen's
// executor, because gqlgen's do not follow their specifications exactly. Errors become codes in errors.go.
//
// The schema is schema.graphqls; package generated makes it executable, and package model holds its types. Package
// plain writes what needs no resolver. Package graphiql is the page for people.
package graphql

//go:generate go run ../../tools/graphqlgen gqlgen.yml
