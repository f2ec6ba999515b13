// Package journalcheck finds what is wrong in an event store, and repairs heads and snapshots that contradict the
// journal. The journal is the truth: no event is ever changed.
//
// A [Checker] works on any gateway that is an es.Maintainer, beside running programs. Their writes can look
// wrong for a moment, so it reports only what it found twice.
package journalcheck
