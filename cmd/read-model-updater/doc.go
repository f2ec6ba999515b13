// Command read-model-updater follows the event store and projects its events into the read model.
//
// Read it in this order: settings from the environment, then the projection (cmd/internal/updater) between the event
// store (cmd/internal/eventstore) and the read model's database. Its HTTP server starts at once; the projection waits
// for its databases and logs that.
package main
