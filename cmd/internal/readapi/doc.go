// Package readapi puts the query side together, from the inside out: SQL reader, version watcher, queries, GraphQL
// handler, HTTP server. read-api and standalone run it over the database that they open; in standalone the updater
// tells it of changes ([Server.Changed]).
package readapi
