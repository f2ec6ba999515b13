// Package graphql serves the read model as GraphQL: queries over GET and POST, subscriptions over WebSockets and
// server-sent events. admit.go finds out who asks, and viewer.go for whom. A request is read into an operation
// (params.go), which engine.go checks against schema and limits (limits.go) and runs within its time limit, after the
// wait for its consistency tokens (operation.go) and for its turn (turns.go); resolvers then ask usecase/query. The
// transports are handler.go (one answer), sse.go, and websocket.go with socket.go. They are written here, on gqlgen's
// executor: gqlgen's own do not keep their specifications to the letter. Errors become codes in errors.go.
//
// The schema is schema.graphqls; package generated makes it executable, and package model holds its types. Package
// plain writes what needs no resolver. Package graphiql beside them is the page for people.
package graphql

//go:generate go run ../../tools/graphqlgen gqlgen.yml
