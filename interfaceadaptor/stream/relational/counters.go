package relational

import "sync/atomic"

// Counters are what a source has done since it was made. They only grow.
type Counters struct {
	Polls      atomic.Int64 // reads that were answered
	Empty      atomic.Int64 // of them, those without an event
	Failures   atomic.Int64 // reads and batches that failed, to be tried again
	Records    atomic.Int64 // events handed over and projected, those that can't be read included
	Unreadable atomic.Int64 // of them, those that can't be read as an event
	Skipped    atomic.Int64 // events of other aggregates than threads
}
