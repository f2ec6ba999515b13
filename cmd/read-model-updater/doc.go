// Command read-model-updater follows the journal and brings its events into the read model.
//
// It is the one place where the projection is put together, from the inside out: journal reader on the event store's
// gateway, store of the read model, projector, change source, and beside them an HTTP server for health and metrics.
// The server is up at once; the rest waits for what it needs and says so.
package main
