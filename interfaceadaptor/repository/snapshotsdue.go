package repository

import (
	"context"
	"fmt"

	"example.com/threads/interfaceadaptor/eventstore"
)

// WriteSnapshotsDue writes the snapshots that were due when a program ended before it wrote them, one after the other,
// and returns how many: for a program's start, beside its work. Commands need none of them. A thread whose snapshot can't
// be written is logged and stands in nobody's way. Where the gateway is no [eventstore.DueFinder] there is nothing to do, and the
// events to come see to it.
func (r *ThreadRepository) WriteSnapshotsDue(ctx context.Context) (written int, err error) {
	finder, able := r.gateway.(eventstore.DueFinder)
	if !able {
		return 0, nil
	}
	for due, err := range finder.SnapshotsDue(ctx, AggregateType, r.snapshotter.every) {
		if err != nil {
			return written, fmt.Errorf("find the threads that lack a snapshot: %w", err)
		}
		err := r.writeSnapshotOf(ctx, due.ID)
		switch {
		case err == nil:
			written++
		case ctx.Err() != nil:
			return written, err
		default:
			r.snapshotter.logger.WarnContext(ctx, "a snapshot that was due at the start could not be written; the thread's next event tries again",
				"aggregate", due.ID.String(), "tenant", due.ID.Tenant, "error", err)
		}
	}
	return written, nil
}

func (r *ThreadRepository) writeSnapshotOf(ctx context.Context, id eventstore.AggregateID) error {
	key, err := KeyOf(id)
	if err != nil {
		return err
	}
	state, err := r.Reload(ctx, key)
	if err != nil {
		return err
	}
	return r.SaveSnapshot(ctx, key, state)
}
