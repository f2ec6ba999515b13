package es

// Write holds the events and receipts of commands that were decided together, at most [MaxAppend].
type Write[S, E any] struct {
	Before   uint64 // the version that the commands were decided on
	Events   []Recorded[E]
	After    State[S] // the state after the events
	Receipts []Receipt
	Heed     bool // fail when another writer asked for a turn; set while no other writer is known
}

// maxBatch is the maximum number of commands in one batch: each may need an event and a receipt.
const maxBatch = MaxAppend / 2
