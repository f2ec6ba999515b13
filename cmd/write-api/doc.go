// Command write-api takes commands over HTTP and puts their events into the event store.
//
// It is the one place where the write side is put together, from the inside out: DynamoDB client, gateway, repository,
// command service, REST handler, HTTP server.
package main
