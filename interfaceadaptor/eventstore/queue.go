package eventstore

import "time"

// Queued is an entry as an event store gives it out that numbers the entries of all aggregates, and so is a queue of
// them.
type Queued struct {
	Position uint64 // in the order of the store: 1 or more
	ID       AggregateID
	SeqNr    uint64
	Payload  []byte // JSON, the whole event
}

// Backlog is what a queue holds behind a position. The zero value is nothing.
type Backlog struct {
	Records int
	Oldest  time.Time // when the first of them occurred
}
