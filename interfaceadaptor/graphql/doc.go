// Package graphql serves the read model as GraphQL: queries over POST, subscriptions over WebSockets and server-sent
// events. An operation passes the HTTP guard (handler.go), the limits (limits.go), its time limit and the wait for its
// consistency tokens (operation.go); resolvers then ask usecase/query. Errors become codes in errors.go.
//
// The schema is schema.graphqls; package generated makes it executable, and package model holds its types. Package
// graphiql beside them is the page for people.
package graphql

//go:generate go tool gqlgen generate --config gqlgen.yml
