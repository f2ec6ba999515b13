package projectiontest

import (
	"context"
	"errors"
	"iter"
	"maps"
	"slices"
	"sync"

	"example.com/threads/domain/thread"
	"example.com/threads/usecase"
	"example.com/threads/usecase/projection"
)

// Journal is a [projection.Journal] in memory. Its faults are set by tests. It may be used concurrently.
type Journal struct {
	mu         sync.Mutex
	events     map[usecase.Key][]usecase.Recorded[thread.Event]
	unreadable map[usecase.Key]uint64 // the event that can't be read
	failing    map[usecase.Key]bool
	longest    int // the most events that one call of EventsAfter has given
	onRead     func(usecase.Key)
}

// NewJournal is an empty journal without faults.
func NewJournal() *Journal {
	return &Journal{
		events:     make(map[usecase.Key][]usecase.Recorded[thread.Event]),
		unreadable: make(map[usecase.Key]uint64),
		failing:    make(map[usecase.Key]bool),
		onRead:     func(usecase.Key) {},
	}
}

// Append adds an event at the end of its thread.
func (j *Journal) Append(event usecase.Recorded[thread.Event]) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.events[event.Key()] = append(j.events[event.Key()], event)
}

// Break makes an event of a thread unreadable; 0 mends the thread.
func (j *Journal) Break(key usecase.Key, seqNr uint64) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.unreadable[key] = seqNr
}

// Fail makes every read of a thread fail, or not any more.
func (j *Journal) Fail(key usecase.Key, failing bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.failing[key] = failing
}

// Of is what a thread's events are.
func (j *Journal) Of(key usecase.Key) []usecase.Recorded[thread.Event] {
	j.mu.Lock()
	defer j.mu.Unlock()
	return slices.Clone(j.events[key])
}

// Keys are the threads that there are.
func (j *Journal) Keys() []usecase.Key {
	j.mu.Lock()
	defer j.mu.Unlock()
	return slices.Collect(maps.Keys(j.events))
}

// Unreadable is the error that EventsAfter gives for a broken event.
func Unreadable(event usecase.Recorded[thread.Event]) *projection.UnreadableError {
	return &projection.UnreadableError{
		Key: event.Key(), SeqNr: event.SeqNr, EventID: event.EventID, Payload: []byte("{broken\xff"), Cause: errors.New("unexpected end"),
	}
}

// EventsAfter implements [projection.Journal].
func (j *Journal) EventsAfter(_ context.Context, key usecase.Key, after uint64) iter.Seq2[usecase.Recorded[thread.Event], error] {
	return func(yield func(usecase.Recorded[thread.Event], error) bool) {
		j.mu.Lock()
		events, broken, failing, onRead := slices.Clone(j.events[key]), j.unreadable[key], j.failing[key], j.onRead
		j.mu.Unlock()
		onRead(key)
		if failing {
			yield(usecase.Recorded[thread.Event]{}, errors.New("no answer"))
			return
		}
		given := 0
		for _, event := range events {
			switch {
			case event.SeqNr <= after:
				continue
			case event.SeqNr == broken:
				yield(usecase.Recorded[thread.Event]{}, Unreadable(event))
				return
			}
			given++
			if !yield(event, nil) {
				break
			}
		}
		j.mu.Lock()
		j.longest = max(j.longest, given)
		j.mu.Unlock()
	}
}

// Heads implements [projection.Journal].
func (j *Journal) Heads(context.Context) iter.Seq2[projection.Head, error] {
	return func(yield func(projection.Head, error) bool) {
		for _, key := range j.Keys() {
			if !yield(projection.Head{Key: key, Version: uint64(len(j.Of(key)))}, nil) {
				return
			}
		}
	}
}

// OnRead calls do with every read of a thread, after the read has seen what it will see.
func (j *Journal) OnRead(do func(usecase.Key)) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.onRead = do
}

// Longest is how many events one call of EventsAfter has given at most.
func (j *Journal) Longest() int {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.longest
}
