package repository

import (
	"context"
	"errors"
	"fmt"

	"example.com/threads/interfaceadaptor/eventstore"
	"example.com/threads/usecase"
	"example.com/threads/usecase/command"
)

// Load returns the state that is remembered, or else the latest.
func (r *Repository[S, E]) Load(ctx context.Context, key usecase.Key) (command.State[S], error) {
	if remembered, found := r.states.get(key); found {
		return remembered.state, nil
	}
	return r.Reload(ctx, key)
}

// Confirm compares the version with the head. Where there is no head, it looks for an event without one.
func (r *Repository[S, E]) Confirm(ctx context.Context, key usecase.Key, version uint64) error {
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

// Reload returns the latest state: what is remembered, or the latest snapshot that can be read, and the events after
// it.
func (r *Repository[S, E]) Reload(ctx context.Context, key usecase.Key) (state command.State[S], err error) {
	id := aggregateOf(key)
	remembered, _ := r.states.get(key) // before the head is read, so that the head can't be behind it
	head, err := r.gateway.Head(ctx, id)
	if err != nil || head.Version == 0 {
		return state, err
	}
	if state, err = r.base(ctx, key, remembered.state, head); err != nil {
		return state, err
	}
	for entry, err := range r.gateway.Entries(ctx, id, state.Version, head.Version) {
		if err != nil {
			return command.State[S]{}, err
		}
		recorded, err := r.codec.Decode(entry.Payload)
		if err == nil && (recorded.Key() != key || recorded.SeqNr != entry.SeqNr || entry.SeqNr != state.Version+1) {
			err = fmt.Errorf("it is event %d of %s of tenant %q", recorded.SeqNr, recorded.Key(), recorded.Tenant)
		}
		if err != nil {
			return command.State[S]{}, fmt.Errorf("event %d of %s: %w", state.Version+1, id, err)
		}
		state = command.State[S]{Version: entry.SeqNr, Value: r.apply(state.Value, recorded.Event)}
	}
	return r.states.remember(key, state, head.SnapshotVersion).state, nil
}

// base is the state to replay from: as late as can be had, and the state before the first event at worst.
func (r *Repository[S, E]) base(ctx context.Context, key usecase.Key, remembered command.State[S], head eventstore.Head) (command.State[S], error) {
	switch version := remembered.Version; {
	case version > head.Version:
		// The store is behind what it once acknowledged: somebody put an older one in its place.
		r.states.forget(key)
	case version > 0:
		return remembered, nil
	}
	for snapshot, err := range r.gateway.Snapshots(ctx, aggregateOf(key), head) {
		if err != nil {
			return command.State[S]{}, err
		}
		id, version, state, err := r.snapshots.Decode(snapshot.Payload)
		if err == nil && (id != key.ID || version != snapshot.Version) {
			err = errors.New("it is that of " + id + " at another version")
		}
		if err == nil {
			return command.State[S]{Version: version, Value: state}, nil
		}
		r.snapshotter.logger.WarnContext(ctx, "a snapshot is passed over; an earlier one or the first event will do",
			"tenant", key.Tenant, "aggregate", key.String(), "version", snapshot.Version, "error", err)
	}
	return command.State[S]{}, nil
}
