// Command write-api takes commands over HTTP and stores their events in the event store.
//
// Read it in this order: settings from the environment, the event store that they name (cmd/internal/eventstore), the
// write side (cmd/internal/writeapi).
package main
