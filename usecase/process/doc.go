// Package process is the engine of process managers: events of some aggregates lead to commands for others.
//
// A process manager is a projection with a name, positions and rows of its own (package projection). Its handlers say
// what follows from an event, and put it as a [Command] into the [Outbox], in the transaction of the position: so an
// event leads to its commands once. A [Manager] sends what is in the outbox and takes away what has been decided. A
// command may be sent again, when the program was killed before it was taken away; then its idempotency key, which
// follows from the process, the event and the aggregate, gets the first answer.
//
// A command that can't be decided now waits in the outbox and holds up nothing else.
package process
