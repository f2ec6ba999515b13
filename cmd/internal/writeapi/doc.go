// Package writeapi wires the write side from the inside out: repository over an event store, command service, REST
// handler, HTTP server. write-api and standalone run it over the store that they open with eventstore.
package writeapi
