package es

import (
	"context"
	"iter"
	"time"
)

// JournalPage is some entries of the journal, of any aggregates, and the position of the next page.
type JournalPage struct {
	Entries []Queued // their Position is the queue's, or 0
	Next    string   // the store's own notation, ASCII
}

// WholeReader is an optional capability of gateways: reading the whole journal, several parts concurrently, with far
// fewer calls than aggregate by aggregate.
type WholeReader interface {
	// JournalParts returns the best number of parts.
	JournalParts() int
	// ReadJournal yields the entries of a part page by page, after a page's Next or from the beginning (""). All
	// entries of an aggregate are in the same part, in no reliable order. It may include concurrent writes. It ends
	// after an error.
	ReadJournal(ctx context.Context, part, parts int, after string) iter.Seq2[JournalPage, error]
}

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
