package projectiontest

import (
	"context"
	"errors"
	"iter"
	"maps"
	"slices"
	"sync"

	"example.com/threads/es"
	"example.com/threads/es/estest/faulty"
	"example.com/threads/es/projection"
)

// Journal is a [projection.Journal] in memory. Tests set its faults. It may be used concurrently.
type Journal struct {
	faulty.Broken
	mu      sync.Mutex
	events  map[es.AggregateID][]projection.Event
	failing map[es.AggregateID]bool
	heads   map[es.AggregateID]int
	longest int // the most events that one call of EventsAfter returned
	onRead  func(es.AggregateID)
}

// NewJournal returns an empty journal without faults.
func NewJournal() *Journal {
	return &Journal{
		events:  make(map[es.AggregateID][]projection.Event),
		failing: make(map[es.AggregateID]bool),
		heads:   make(map[es.AggregateID]int),
		onRead:  func(es.AggregateID) {},
	}
}

// Append adds an event at the end of its ledger.
func (j *Journal) Append(event projection.Event) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.events[event.Aggregate()] = append(j.events[event.Aggregate()], event)
}

// Fail makes every read of a ledger fail, or ends that.
func (j *Journal) Fail(key es.AggregateID, failing bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.failing[key] = failing
}

// Of returns a ledger's events.
func (j *Journal) Of(key es.AggregateID) []projection.Event {
	j.mu.Lock()
	defer j.mu.Unlock()
	return slices.Clone(j.events[key])
}

// Keys returns the ledgers.
func (j *Journal) Keys() []es.AggregateID {
	j.mu.Lock()
	defer j.mu.Unlock()
	return slices.Collect(maps.Keys(j.events))
}

// wrongHead: the journal has events beyond the head.
type wrongHead struct{}

func (wrongHead) Error() string { return "there are events beyond the head" }
func (wrongHead) Class() string { return "inconsistent" }

// EventsAfter implements [projection.Journal].
func (j *Journal) EventsAfter(_ context.Context, key es.AggregateID, after uint64) iter.Seq2[projection.Record, error] {
	return func(yield func(projection.Record, error) bool) {
		j.mu.Lock()
		events, failing, onRead := slices.Clone(j.events[key]), j.failing[key], j.onRead
		beyond := false
		if head, set := j.heads[key]; set {
			beyond = head < len(events) && after > uint64(head)
			events = events[:head]
		}
		j.mu.Unlock()
		onRead(key)
		if beyond {
			yield(projection.Record{}, wrongHead{})
			return
		}
		if failing {
			yield(projection.Record{}, errors.New("no answer"))
			return
		}
		given := 0
		for _, event := range events {
			if event.SeqNr <= after {
				continue
			}
			given++
			if !yield(j.Read(recordOf(event)), nil) {
				break
			}
		}
		j.mu.Lock()
		j.longest = max(j.longest, given)
		j.mu.Unlock()
	}
}

// Heads implements [projection.Journal].
func (j *Journal) Heads(_ context.Context, aggregateType string) iter.Seq2[projection.Head, error] {
	return func(yield func(projection.Head, error) bool) {
		for _, key := range j.Keys() {
			if key.Type == aggregateType && !yield(projection.Head{Key: key, Version: uint64(len(j.Of(key)))}, nil) {
				return
			}
		}
	}
}

// SetHead gives the head of a ledger a wrong version; by default it is the version of the last event.
func (j *Journal) SetHead(key es.AggregateID, version ...int) {
	j.mu.Lock()
	defer j.mu.Unlock()
	delete(j.heads, key)
	if len(version) > 0 {
		j.heads[key] = version[0]
	}
}

// OnRead calls do with every read of a ledger, after the read took its snapshot.
func (j *Journal) OnRead(do func(es.AggregateID)) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.onRead = do
}

// Longest returns the most events that one call of EventsAfter returned.
func (j *Journal) Longest() int {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.longest
}
