// Command write-api takes commands over HTTP and puts their events into the event store.
//
// It is read from here: settings from the environment, the event store that they name (cmd/internal/eventstore), the
// write side over it (cmd/internal/writeapi).
package main
