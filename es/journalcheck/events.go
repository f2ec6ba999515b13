package journalcheck

import (
	"context"
	"errors"
	"iter"

	"example.com/threads/es"
)

// Events yields the stored entries of an aggregate in order, regardless of the head and of gaps. An unreadable entry
// has a fault that says why. One page is in memory. It ends after an error.
func (c *Checker) Events(ctx context.Context, id es.AggregateID) iter.Seq2[es.StoredEntry, error] {
	return func(yield func(es.StoredEntry, error) bool) {
		seen := numbers{}
		for stored, err := range c.store.StoredEntries(ctx, id) {
			if err != nil {
				yield(es.StoredEntry{}, err)
				return
			}
			if stored.SeqNr > 0 {
				seen.add(stored.SeqNr)
			}
		}
		for _, present := range seen.spans() {
			for next := present.first; next <= present.last; {
				entry, err := es.Entry{}, error(nil)
				for entry, err = range c.store.Entries(ctx, id, next-1, present.last) {
					if err != nil {
						break
					}
					if !yield(es.StoredEntry{Entry: entry}, nil) {
						return
					}
					next = entry.SeqNr + 1
				}
				if err == nil {
					continue
				}
				if ctx.Err() != nil || errors.Is(err, es.ErrUnavailable) {
					yield(es.StoredEntry{}, err)
					return
				}
				unreadable := es.StoredEntry{
					Entry:  es.Entry{SeqNr: next},
					Faults: []es.Fault{{Field: "event", Expected: "an event that can be read", Found: err.Error()}},
				}
				if !yield(unreadable, nil) {
					return
				}
				next++
			}
		}
	}
}
