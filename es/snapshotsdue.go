package es

import (
	"context"
	"fmt"
)

// WriteSnapshotsDue writes the snapshots that were still pending when a program ended, and returns their number. It
// runs beside the program's work after a start; commands do not need it. An aggregate whose snapshot cannot be written
// is logged and skipped. If the gateway is not an [DueFinder] it does nothing; the snapshots are then
// written after later events.
func (r *Repository[S, E]) WriteSnapshotsDue(ctx context.Context) (written int, err error) {
	finder, able := r.gateway.(DueFinder)
	if !able {
		return 0, nil
	}
	for due, err := range finder.SnapshotsDue(ctx, r.codec.Type(), r.snapshotter.every) {
		if err != nil {
			return written, fmt.Errorf("find the aggregates that need a snapshot: %w", err)
		}
		wrote, err := r.writeSnapshotOf(ctx, due)
		switch {
		case err == nil:
			written += wrote
		case ctx.Err() != nil:
			return written, err
		default:
			r.snapshotter.logger.WarnContext(ctx, "could not write a snapshot that was due at the start; the aggregate's next event will retry",
				"aggregate", due.ID.String(), "tenant", due.ID.Tenant, "error", err)
		}
	}
	return written, nil
}

// writeSnapshotOf returns the number of snapshots written: none if the state is so large that it is not due yet.
func (r *Repository[S, E]) writeSnapshotOf(ctx context.Context, head AggregateHead) (written int, err error) {
	state, err := r.Reload(ctx, head.ID)
	if err != nil || !r.snapshotter.isDue(cached[S]{state, head.SnapshotVersion}) {
		return 0, err
	}
	return 1, r.SaveSnapshot(ctx, head.ID, state)
}
