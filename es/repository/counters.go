package repository

import "sync/atomic"

// Counters are running totals of a [Repository], for metrics.
type Counters struct {
	Hits                atomic.Int64 // states that Load found in the cache
	Misses              atomic.Int64 // states that Load read from the store
	SnapshotsWritten    atomic.Int64
	SnapshotBytes       atomic.Int64 // of the written snapshots, before the store compresses them
	SnapshotsFailed     atomic.Int64 // snapshots that could not be written; the aggregate's next event retries
	SnapshotsUnreadable atomic.Int64 // snapshots that were skipped because they cannot be read
}

// Counters returns the repository's counters.
func (r *Repository[S, E]) Counters() *Counters { return r.counters }

// Cached returns the number of states in the cache, and an estimate of their size in bytes.
func (r *Repository[S, E]) Cached() (states int, bytes uint64) {
	return r.states.usage()
}
