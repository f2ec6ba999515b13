// Package journalcheck tells operators what is wrong in an event store and mends what can be mended: heads and
// snapshots that contradict the journal. The journal itself is the truth, and nothing here changes an event.
//
// A [Checker] works on any gateway that is an eventstore.Maintainer, beside running programs. What they write while it
// looks can look wrong for a moment, so that it tells only what it has seen twice. cmd/threadctl is its user.
package journalcheck
