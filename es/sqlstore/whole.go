package sqlstore

import (
	"context"
	"fmt"
	"iter"
	"strconv"

	"example.com/threads/es"
)

// A page ends with the event that reaches one of these limits. The more events a page has, the less often a rebuild
// reads and writes the rows of an aggregate that many of them belong to; it holds a few pages in memory.
const (
	pageEvents = 16000
	pageBytes  = 8 << 20 // of the events' content
)

// JournalParts implements [es.Journal]. There is one part, because events have consecutive numbers and are
// read in the order of writing.
func (g *Gateway) JournalParts() int { return 1 }

// ReadJournal implements [es.Journal].
func (g *Gateway) ReadJournal(ctx context.Context, part, _ int, after string) iter.Seq2[es.JournalPage, error] {
	return func(yield func(es.JournalPage, error) bool) {
		var number uint64
		if after != "" {
			var err error
			if number, err = strconv.ParseUint(after, 10, 63); err != nil {
				yield(es.JournalPage{}, fmt.Errorf("%q is no position in the journal: %w", after, err))
				return
			}
		}
		if part > 0 {
			return
		}
		for {
			entries, err := g.wholePage(ctx, number)
			if err != nil {
				yield(es.JournalPage{}, g.explain(ctx, err, "read the journal after %d", number))
				return
			}
			if len(entries) == 0 {
				return
			}
			number = entries[len(entries)-1].Position
			if !yield(es.JournalPage{Entries: entries, Next: strconv.FormatUint(number, 10)}, nil) {
				return
			}
		}
	}
}

// wholePage reads the page after a number; it is empty at the end.
func (g *Gateway) wholePage(ctx context.Context, after uint64) (page []es.Queued, err error) {
	rows, err := g.db.QueryContext(ctx, selectQueue, after, pageEvents)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }() // rows.Err has the error
	var row queueRow
	page = make([]es.Queued, 0, pageEvents)
	for size := 0; size < pageBytes && rows.Next(); {
		// Not by the columns' names, which takes longer.
		err := rows.Scan(&row.SequenceNumber, &row.TenantCode, &row.AggregateType, &row.AggregateID, &row.Version, &row.Content)
		if err != nil {
			return nil, err
		}
		page, size = append(page, row.queued()), size+len(row.Content)
	}
	return page, rows.Err()
}
