package repository

import (
	"context"
	"errors"
	"fmt"

	"example.com/threads/es"
	"example.com/threads/es/command"
	"example.com/threads/es/eventstore"
)

// Load returns the cached state if there is one, otherwise the latest.
func (r *Repository[S, E]) Load(ctx context.Context, key es.Key) (command.State[S], error) {
	if known, found := r.states.get(key); found {
		r.counters.Hits.Add(1)
		return known.state, nil
	}
	r.counters.Misses.Add(1)
	return r.Reload(ctx, key)
}

// Confirm compares the version with the head. If there is no head, it checks that there is no event either.
func (r *Repository[S, E]) Confirm(ctx context.Context, key es.Key, version uint64) error {
	id := aggregateOf(key)
	head, err := r.gateway.Head(ctx, id)
	switch {
	case err != nil:
		return err
	case head.Version != version:
		return command.ErrConflict
	case version == 0:
		return r.gateway.Verify(ctx, id, head)
	}
	return nil
}

// Reload returns the latest state: the cached state or the latest readable snapshot, plus the events after it.
func (r *Repository[S, E]) Reload(ctx context.Context, key es.Key) (state command.State[S], err error) {
	id := aggregateOf(key)
	known, _ := r.states.get(key) // read before the head, so that it cannot be newer than the head
	head, err := r.gateway.Head(ctx, id)
	if err != nil || head.Version == 0 {
		return state, err
	}
	if state, err = r.base(ctx, key, known.state, head); err != nil {
		return state, err
	}
	if state, err = r.replay(ctx, key, state, head.Version); err != nil {
		return state, err
	}
	return r.states.remember(key, state, head.SnapshotVersion).state, nil
}

// replay returns the state at a version, from an earlier one.
func (r *Repository[S, E]) replay(ctx context.Context, key es.Key, state command.State[S], version uint64) (command.State[S], error) {
	for recorded, err := range r.Events(ctx, key, state.Version, version) {
		if err == nil && recorded.SeqNr != state.Version+1 {
			err = fmt.Errorf("event %d of %s comes after event %d", recorded.SeqNr, key, state.Version)
		}
		if err != nil {
			return command.State[S]{}, err
		}
		state = command.State[S]{Version: recorded.SeqNr, Value: r.apply(state.Value, recorded.Event)}
	}
	return state, nil
}

// base returns the state to replay from: the cached state, the latest readable snapshot, or the state before the first
// event.
func (r *Repository[S, E]) base(ctx context.Context, key es.Key, known command.State[S], head eventstore.Head) (command.State[S], error) {
	switch version := known.Version; {
	case version > head.Version:
		// The store is older than the cached state: an older copy of it was restored.
		r.states.forget(key)
	case version > 0:
		return known, nil
	}
	for snapshot, err := range r.gateway.Snapshots(ctx, aggregateOf(key), head) {
		if err != nil {
			return command.State[S]{}, err
		}
		id, version, state, err := r.snapshots.Decode(snapshot.Payload)
		if err == nil && (id != key.ID || version != snapshot.Version) {
			err = errors.New("it belongs to " + id + " at another version")
		}
		if err == nil {
			return command.State[S]{Version: version, Value: state}, nil
		}
		r.counters.SnapshotsUnreadable.Add(1)
		r.snapshotter.logger.WarnContext(ctx, "skipped an unreadable snapshot; an earlier one or the events are used instead",
			"tenant", key.Tenant, "aggregate", key.String(), "version", snapshot.Version, "error", err)
	}
	return command.State[S]{}, nil
}
