// Package thread is the domain model of chat threads.
//
// A command is a request, an event is a fact, and a [Thread] is the state that results from all events so far. [Decide]
// turns a state and a command into events or a rejection; [Thread.Apply] turns a state and an event into the next
// state. Both are pure: ids come with the command, nothing is read or written. All other packages (use cases, adapters,
// programs) depend on this one; it knows none of them.
//
// Files: lifecycle.go (create, rename, delete), membership.go (members and roles), posting.go (messages); decide.go and
// state.go combine them.
package thread
