// Command read-model-updater follows the event store and brings its events into the read model.
//
// It is read from here: settings from the environment, then the projection (cmd/internal/updater) between the event
// store (cmd/internal/eventstore) and the database of the read model. Its HTTP server is up at once; the rest waits for
// what it needs and says so.
package main
