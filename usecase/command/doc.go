// Package command is the write side's one use case: load -> decide -> save, the same for every command of every type of
// aggregate.
//
// A [Service] takes a [Request] from an adapter such as REST, has the type's [Decider] judge it on the true latest state,
// and saves the events through the [Repository] port. Commands for one aggregate that arrive together are decided one
// after the other and saved in one write; a command with an idempotency key is applied once, however often it is sent.
package command
