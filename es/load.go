package es

import (
	"context"
	"errors"
	"fmt"
)

// Load returns the cached state if there is one, otherwise the latest.
func (r *Repository[S, E]) Load(ctx context.Context, key AggregateID) (State[S], error) {
	if known, found := r.states.get(key); found {
		r.metrics.hits.Inc()
		return known.state, nil
	}
	r.metrics.misses.Inc()
	return r.Reload(ctx, key)
}

// Confirm compares the version with the head. If there is no head, it checks that there is no event either.
func (r *Repository[S, E]) Confirm(ctx context.Context, key AggregateID, version uint64) error {
	id := key
	head, err := r.gateway.Head(ctx, id)
	switch {
	case err != nil:
		return err
	case head.Version != version:
		return ErrConflict
	case version == 0:
		return r.gateway.Verify(ctx, id, head)
	}
	return nil
}

// Reload returns the latest state: the cached state or the latest readable snapshot, plus the events after it.
func (r *Repository[S, E]) Reload(ctx context.Context, key AggregateID) (state State[S], err error) {
	id := key
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
func (r *Repository[S, E]) replay(ctx context.Context, key AggregateID, state State[S], version uint64) (State[S], error) {
	for recorded, err := range r.Events(ctx, key, state.Version, version) {
		if err == nil && recorded.SeqNr != state.Version+1 {
			err = fmt.Errorf("event %d of %s comes after event %d", recorded.SeqNr, key, state.Version)
		}
		if err != nil {
			return State[S]{}, err
		}
		state = State[S]{Version: recorded.SeqNr, Value: r.apply(state.Value, recorded.Event)}
	}
	return state, nil
}

// base returns the state to replay from: the cached state, the latest readable snapshot, or the state before the first
// event.
func (r *Repository[S, E]) base(ctx context.Context, key AggregateID, known State[S], head Head) (State[S], error) {
	switch version := known.Version; {
	case version > head.Version:
		// The store is older than the cached state: an older copy of it was restored.
		r.states.forget(key)
	case version > 0:
		return known, nil
	}
	for snapshot, err := range r.gateway.Snapshots(ctx, key, head) {
		if err != nil {
			return State[S]{}, err
		}
		id, version, state, err := r.snapshots.Decode(snapshot.Payload)
		if err == nil && (id != key.ID || version != snapshot.Version) {
			err = errors.New("it belongs to " + id + " at another version")
		}
		if err == nil {
			return State[S]{Version: version, Value: state}, nil
		}
		r.metrics.unreadable.Inc()
		r.snapshotter.logger.WarnContext(ctx, "skipped an unreadable snapshot; an earlier one or the events are used instead",
			"tenant", key.Tenant, "aggregate", key.String(), "version", snapshot.Version, "error", err)
	}
	return State[S]{}, nil
}

// Receipt returns the receipt of a command id; false if there is none or it has expired.
func (r *Repository[S, E]) Receipt(ctx context.Context, tenant Tenant, commandID string) (Receipt, bool, error) {
	return r.gateway.Receipt(ctx, tenant, commandID)
}
