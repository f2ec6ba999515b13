// Package command is the write side's one use case: load -> decide -> save, the same for every command of every type of
// aggregate.
//
// A [Service] takes a [Request] from an adapter such as REST, lets the aggregate type's [Decider] decide on the latest
// state, and saves the events through the [Repository] port. Commands for one aggregate that arrive together are
// decided in order and saved in one write. A command with an idempotency key is applied once, however often it is sent.
package command
