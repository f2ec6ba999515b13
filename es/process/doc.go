// Package process is the engine of process managers: events of some aggregates lead to commands for others.
//
// A process manager is a projection with a name, positions and rows of its own (package projection). Its handlers turn
// an event into a [Command] and store it in the [Outbox], in the same transaction as the position: each event produces
// its commands once. A [Manager] sends the commands and deletes those that are decided. A command is sent again if the
// program was killed before deleting it. The idempotency key, made of the process, the event and the aggregate, then
// returns the first answer.
//
// A command that fails waits in the outbox and does not delay others.
package process
