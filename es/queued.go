package es

import "time"

// Queued is an entry of a store that numbers the entries of all aggregates, so that they form a queue.
type Queued struct {
	Position uint64 // 1 or more, in the order of the store
	ID       AggregateID
	SeqNr    uint64
	Payload  []byte // JSON, the complete event
}

// Backlog describes the queued entries after a position. The zero value means none.
type Backlog struct {
	Records int
	Oldest  time.Time // when the first of them occurred
}
