package faulty

import (
	"context"
	"iter"
	"sync"

	"example.com/threads/es"
	"example.com/threads/es/projection"
)

// Broken is a set of events that cannot be read, at most one of each aggregate. The zero value is empty. It is safe for
// concurrent use.
type Broken struct {
	mutex  sync.Mutex
	events map[es.AggregateID]uint64
}

// Break makes an event unreadable; with 0, all events of the aggregate are readable again.
func (b *Broken) Break(key es.AggregateID, seqNr uint64) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	if b.events == nil {
		b.events = map[es.AggregateID]uint64{}
	}
	delete(b.events, key)
	if seqNr > 0 {
		b.events[key] = seqNr
	}
}

// Mend makes all events readable again.
func (b *Broken) Mend() {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	clear(b.events)
}

// Count returns how many events cannot be read.
func (b *Broken) Count() int {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	return len(b.events)
}

// Read returns the record, unreadable if its event is in the set.
func (b *Broken) Read(record projection.Record) projection.Record {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	if seqNr, broken := b.events[record.Key]; broken && seqNr == record.SeqNr {
		return Unreadable(record)
	}
	return record
}

// Journal returns a journal in which these events cannot be read.
func (b *Broken) Journal(behind es.Journal) es.Journal { return journal{behind, b} }

type journal struct {
	es.Journal
	broken *Broken
}

func (j journal) Entries(ctx context.Context, id es.AggregateID, after, upTo uint64) iter.Seq2[es.Entry, error] {
	return func(yield func(es.Entry, error) bool) {
		for entry, err := range j.Journal.Entries(ctx, id, after, upTo) {
			entry.Payload = j.broken.Read(projection.Record{Key: id, SeqNr: entry.SeqNr, Payload: entry.Payload}).Payload
			if !yield(entry, err) {
				return
			}
		}
	}
}
