package repository

import (
	"context"
	"fmt"

	"example.com/threads/domain/thread"
	"example.com/threads/interfaceadaptor/eventcodec"
	"example.com/threads/interfaceadaptor/eventstore"
	"example.com/threads/usecase"
	"example.com/threads/usecase/chat"
)

// Load returns the state that is remembered, or else the latest.
func (r *ThreadRepository) Load(ctx context.Context, key usecase.Key) (thread.Thread, error) {
	if remembered, found := r.states.get(key); found {
		return remembered.state, nil
	}
	return r.Reload(ctx, key)
}

// IsLatest compares the state with the head.
func (r *ThreadRepository) IsLatest(ctx context.Context, key usecase.Key, state thread.Thread) (bool, error) {
	head, err := r.gateway.Head(ctx, aggregateOf(key))
	return head.Version == state.Version(), err
}

// Reload returns the latest state: what is remembered, or the latest snapshot that can be read, and the events after
// it.
func (r *ThreadRepository) Reload(ctx context.Context, key usecase.Key) (thread.Thread, error) {
	id := aggregateOf(key)
	remembered, _ := r.states.get(key) // before the head is read, so that the head can't be behind it
	head, err := r.gateway.Head(ctx, id)
	if err != nil || head.Version == 0 {
		return thread.Thread{}, err
	}
	state, err := r.base(ctx, key, remembered.state, head)
	if err != nil {
		return thread.Thread{}, err
	}
	for entry, err := range r.gateway.Entries(ctx, id, state.Version(), head.Version) {
		if err != nil {
			return thread.Thread{}, err
		}
		recorded, err := recordedOf(key, entry)
		if err != nil {
			return thread.Thread{}, err
		}
		state = state.Apply(recorded.Event)
		if state.Version() != entry.SeqNr {
			return thread.Thread{}, fmt.Errorf("the journal of %s has event %d where %d belongs", id, entry.SeqNr, state.Version())
		}
	}
	if state.Version() != head.Version {
		return thread.Thread{}, fmt.Errorf("the journal of %s ends at event %d, its head is at %d", id, state.Version(), head.Version)
	}
	return r.states.remember(key, state, head.SnapshotVersion).state, nil
}

// base is the state to replay from: as late as can be had, and the state before the first event at worst.
func (r *ThreadRepository) base(ctx context.Context, key usecase.Key, remembered thread.Thread, head eventstore.Head) (thread.Thread, error) {
	switch version := remembered.Version(); {
	case version > head.Version:
		// The store is behind what it once acknowledged: somebody put an older one in its place.
		r.states.forget(key)
	case version > 0:
		return remembered, nil
	}
	for snapshot, err := range r.gateway.Snapshots(ctx, aggregateOf(key), head) {
		if err != nil {
			return thread.Thread{}, err
		}
		id, state, err := eventcodec.DecodeSnapshot(snapshot.Payload)
		switch {
		case err != nil:
		case id != chat.ThreadID(key) || state.Version() != snapshot.Version:
			err = fmt.Errorf("it is of thread %s at version %d", id, state.Version())
		default:
			return state, nil
		}
		r.snapshotter.logger.WarnContext(ctx, "a snapshot is passed over; an earlier one or the first event will do",
			"thread", chat.ThreadID(key), "version", snapshot.Version, "error", err)
	}
	return thread.Thread{}, nil
}
