// Package thread is the domain: what a chat thread is and what may happen to it.
//
// A command says what somebody wants, an event what has happened, and a [Thread] is what the events so far add up to.
// [Decide] turns a state and a command into events or a rejection; [Thread.Apply] turns a state and an event into the
// next state. Both are pure: identifiers come in with the command, nothing is read, nothing is written. Everything
// else in the module - use cases, adapters, programs - stands around this package, which knows none of them.
//
// Where to look: lifecycle.go (create, rename, delete), membership.go (who belongs, with which role), posting.go
// (messages), and decide.go and state.go for how they come together.
package thread
