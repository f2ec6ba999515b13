// Package readapi assembles the query side: SQL reader, version watcher, queries, history from the event store, GraphQL
// handler, HTTP server.
// read-api and standalone run it over the database that they open; in standalone the updater reports changes to it
// ([Server.Changed]).
package readapi
