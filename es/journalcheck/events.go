package journalcheck

import (
	"context"
	"errors"
	"iter"

	"example.com/threads/es/eventstore"
)

// Events yields the stored entries of an aggregate in order, regardless of the head and of gaps. An unreadable entry
// has a fault that says why. One page is in memory. It ends after an error.
func (c *Checker) Events(ctx context.Context, id eventstore.AggregateID) iter.Seq2[eventstore.StoredEntry, error] {
	return func(yield func(eventstore.StoredEntry, error) bool) {
		seen := numbers{}
		for stored, err := range c.store.StoredEntries(ctx, id) {
			if err != nil {
				yield(eventstore.StoredEntry{}, err)
				return
			}
			if stored.SeqNr > 0 {
				seen.add(stored.SeqNr)
			}
		}
		for _, present := range seen.spans() {
			for next := present.first; next <= present.last; {
				entry, err := eventstore.Entry{}, error(nil)
				for entry, err = range c.store.Entries(ctx, id, next-1, present.last) {
					if err != nil {
						break
					}
					if !yield(eventstore.StoredEntry{Entry: entry}, nil) {
						return
					}
					next = entry.SeqNr + 1
				}
				if err == nil {
					continue
				}
				if ctx.Err() != nil || errors.Is(err, eventstore.ErrUnavailable) {
					yield(eventstore.StoredEntry{}, err)
					return
				}
				unreadable := eventstore.StoredEntry{
					Entry:  eventstore.Entry{SeqNr: next},
					Faults: []eventstore.Fault{{Field: "event", Expected: "an event that can be read", Found: err.Error()}},
				}
				if !yield(unreadable, nil) {
					return
				}
				next++
			}
		}
	}
}
