package es

import "context"

// TraceparentOf is for tests.
var TraceparentOf = traceparentOf

// Save saves an event that was decided on a state, and returns the state after it.
func (r *Repository[S, E]) Save(ctx context.Context, key AggregateID, before State[S], event Recorded[E]) (State[S], error) {
	after := State[S]{before.Version + 1, r.apply(before.Value, event.Event)}
	return after, r.save(ctx, key, before.Version, after, []Recorded[E]{event}, nil, false)
}

// Confirm compares a version with the head.
func (r *Repository[S, E]) Confirm(ctx context.Context, key AggregateID, version uint64) error {
	return r.confirm(ctx, key, version)
}
