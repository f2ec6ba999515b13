package sqlstore

import (
	"context"
	"fmt"
	"iter"
	"strconv"

	"example.com/threads/interfaceadaptor/eventstore"
)

const wholePage = 2000 // events

var _ eventstore.WholeReader = (*Gateway)(nil)

// JournalParts implements [eventstore.WholeReader]. There is one part, because events have consecutive numbers and are
// read in the order of writing.
func (g *Gateway) JournalParts() int { return 1 }

// ReadJournal implements [eventstore.WholeReader].
func (g *Gateway) ReadJournal(ctx context.Context, part, _ int, after string) iter.Seq2[eventstore.JournalPage, error] {
	return func(yield func(eventstore.JournalPage, error) bool) {
		var number uint64
		if after != "" {
			var err error
			if number, err = strconv.ParseUint(after, 10, 63); err != nil {
				yield(eventstore.JournalPage{}, fmt.Errorf("%q is no position in the journal: %w", after, err))
				return
			}
		}
		for more := part == 0; more; {
			var rows []queueRow
			if err := g.db.SelectContext(ctx, &rows, selectQueue, number, wholePage); err != nil {
				yield(eventstore.JournalPage{}, explain(ctx, g.dialect, err, "read the journal after %d", number))
				return
			}
			if more = len(rows) == wholePage; len(rows) == 0 {
				return
			}
			page := eventstore.JournalPage{Entries: make([]eventstore.Queued, len(rows))}
			for i, row := range rows {
				page.Entries[i] = row.queued()
			}
			number = rows[len(rows)-1].SequenceNumber
			page.Next = strconv.FormatUint(number, 10)
			if !yield(page, nil) {
				return
			}
		}
	}
}
