package eventstore

import (
	"context"
	"iter"
)

// JournalPage is some entries of the journal, of any aggregates, and where to go on behind them.
type JournalPage struct {
	Entries []Queued // Position is that of a queue, or 0
	Next    string   // the store's own notation, ASCII
}

// WholeReader is what a gateway can have beside its port: a way to read all of the journal, several parts at once, with
// far fewer calls than aggregate by aggregate.
type WholeReader interface {
	// JournalParts is into how many parts the journal is best divided.
	JournalParts() int
	// ReadJournal yields the entries of a part page by page, behind a page's Next or from the beginning (""). All
	// entries of an aggregate are in the same part, in no order that can be relied on. What is written meanwhile may or
	// may not show. It ends after an error.
	ReadJournal(ctx context.Context, part, parts int, after string) iter.Seq2[JournalPage, error]
}
