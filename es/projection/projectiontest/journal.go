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

// Journal is an [es.Journal] in memory, as far as a [projection.Projector] reads it. Tests set its faults. It may be
// used concurrently.
type Journal struct {
	faulty.Broken
	es.Journal // what is not called
	mu         sync.Mutex
	events     map[es.AggregateID][]projection.Event
	failing    map[es.AggregateID]bool
	heads      map[es.AggregateID]int
	longest    int // the most events that one call of Entries returned
	onRead     func(es.AggregateID)
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

// Head implements [es.Reader].
func (j *Journal) Head(_ context.Context, key es.AggregateID) (es.Head, error) {
	j.mu.Lock()
	head, failing, onRead := j.head(key), j.failing[key], j.onRead
	j.mu.Unlock()
	onRead(key)
	if failing {
		return es.Head{}, errors.New("no answer")
	}
	return head, nil
}

// head returns the head of a ledger; mu is held.
func (j *Journal) head(key es.AggregateID) es.Head {
	if version, set := j.heads[key]; set {
		return es.Head{Version: uint64(version)}
	}
	return es.Head{Version: uint64(len(j.events[key]))}
}

// EntriesAt implements [es.Reader], without the payloads.
func (j *Journal) EntriesAt(_ context.Context, key es.AggregateID, seqNrs []uint64) iter.Seq2[es.Entry, error] {
	return func(yield func(es.Entry, error) bool) {
		for _, event := range j.Of(key) {
			if slices.Contains(seqNrs, event.SeqNr) && !yield(es.Entry{SeqNr: event.SeqNr}, nil) {
				return
			}
		}
	}
}

// Entries implements [es.Reader].
func (j *Journal) Entries(_ context.Context, key es.AggregateID, after, upTo uint64) iter.Seq2[es.Entry, error] {
	return func(yield func(es.Entry, error) bool) {
		given := 0
		for _, event := range j.Of(key) {
			if event.SeqNr <= after || event.SeqNr > upTo {
				continue
			}
			given++
			if !yield(es.Entry{SeqNr: event.SeqNr, Payload: j.Read(recordOf(event)).Payload}, nil) {
				break
			}
		}
		j.mu.Lock()
		j.longest = max(j.longest, given)
		j.mu.Unlock()
	}
}

// Heads implements [es.Journal].
func (j *Journal) Heads(_ context.Context, aggregateType string) iter.Seq2[es.StoredAggregate, error] {
	return func(yield func(es.StoredAggregate, error) bool) {
		for _, key := range j.Keys() {
			head := es.Head{Version: uint64(len(j.Of(key)))}
			if key.Type == aggregateType && !yield(es.StoredAggregate{ID: key, Head: head}, nil) {
				return
			}
		}
	}
}

// remove takes a ledger away, as an earlier backup of the journal does, and returns its events.
func (j *Journal) remove(key es.AggregateID) []projection.Event {
	j.mu.Lock()
	defer j.mu.Unlock()
	defer delete(j.events, key)
	return j.events[key]
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

// Longest returns the most events that one call of Entries returned.
func (j *Journal) Longest() int {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.longest
}
