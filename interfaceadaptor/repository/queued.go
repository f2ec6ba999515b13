package repository

// Queued is an entry as an event store gives it out that numbers the entries of all aggregates, and so is a queue of
// them.
type Queued struct {
	Position uint64 // in the order of the store; higher than that of every entry that was written before it
	ID       AggregateID
	Entry
}

// Backlog is what a queue holds behind a position.
type Backlog struct {
	Records int
	Oldest  Queued // the first of them, as far as a store tells without its payload; the zero value when there is none
}
