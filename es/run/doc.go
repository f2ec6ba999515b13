// Package run is the runtime of an updater: the program that keeps a read model. It waits for its turn to write,
// follows the event store, projects, rebuilds and verifies the rows, runs further consumers of the events beside it,
// and tells its state and its metrics.
//
// An application hands it [Options]: the read model's handlers, how the databases are opened, and its consumers, such
// as process managers ([Turn.Process]).
package run
