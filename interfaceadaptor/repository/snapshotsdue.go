package repository

import (
	"context"
	"fmt"

	"example.com/threads/interfaceadaptor/eventstore"
	"example.com/threads/usecase"
)

// WriteSnapshotsDue writes the snapshots that were due when a program ended before it wrote them, one after the other,
// and returns how many: for a program's start, beside its work. Commands need none of them. An aggregate whose snapshot can't
// be written is logged and stands in nobody's way. Where the gateway is no [eventstore.DueFinder] there is nothing to do, and the
// events to come see to it.
func (r *Repository[S, E]) WriteSnapshotsDue(ctx context.Context) (written int, err error) {
	finder, able := r.gateway.(eventstore.DueFinder)
	if !able {
		return 0, nil
	}
	for due, err := range finder.SnapshotsDue(ctx, r.codec.Type(), r.snapshotter.every) {
		if err != nil {
			return written, fmt.Errorf("find the aggregates that lack a snapshot: %w", err)
		}
		err := r.writeSnapshotOf(ctx, due.ID)
		switch {
		case err == nil:
			written++
		case ctx.Err() != nil:
			return written, err
		default:
			r.snapshotter.logger.WarnContext(ctx, "a snapshot that was due at the start could not be written; the aggregate's next event tries again",
				"aggregate", due.ID.String(), "tenant", due.ID.Tenant, "error", err)
		}
	}
	return written, nil
}

func (r *Repository[S, E]) writeSnapshotOf(ctx context.Context, id eventstore.AggregateID) error {
	tenant, err := usecase.ParseTenant(id.Tenant)
	if err != nil {
		return err
	}
	key := usecase.Key{Tenant: tenant, Type: id.Type, ID: id.ULID}
	state, err := r.Reload(ctx, key)
	if err != nil {
		return err
	}
	return r.SaveSnapshot(ctx, key, state)
}
