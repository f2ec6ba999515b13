package dynamodbstreams

import "sync/atomic"

// Counters are what a source has done since it was made. They only grow.
type Counters struct {
	Polls      atomic.Int64 // calls for records that were answered
	Empty      atomic.Int64 // of them, those without a record
	Failures   atomic.Int64 // calls and batches that failed, to be tried again
	Records    atomic.Int64 // records handed over, those that can't be read included
	Unreadable atomic.Int64 // of them, those that can't be read as an event
	Skipped    atomic.Int64 // new items that are no journal entries of a thread
	Ignored    atomic.Int64 // changes and deletions, which a journal does not have
	Expired    atomic.Int64 // iterators that had to be replaced
	Lost       atomic.Int64 // positions that records may have been lost behind
	Repairs    atomic.Int64 // repairs that were completed
}
