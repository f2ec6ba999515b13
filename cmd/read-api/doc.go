// Command read-api answers GraphQL queries and subscriptions from the read model.
//
// It is the one place where the read side is put together, from the inside out: database, SQL reader, version watcher,
// queries, GraphQL handler, HTTP server.
package main
