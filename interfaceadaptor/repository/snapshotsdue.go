package repository

import (
	"context"
	"fmt"
	"iter"
)

// DueFinder is what a gateway can have beside its port: a way to find the aggregates that lack a snapshot.
type DueFinder interface {
	// SnapshotsDue yields the aggregates of the type that have had more than over events since their latest snapshot, in
	// no order. It ends after an error.
	SnapshotsDue(ctx context.Context, aggregateType string, over uint64) iter.Seq2[AggregateHead, error]
}

// WriteSnapshotsDue writes the snapshots that were due when a program ended before it wrote them, one after the other,
// and returns how many: for a program's start, beside its work. Commands need none of them. Where the gateway is no
// [DueFinder] there is nothing to do, and each thread's next event sees to its own.
func (r *ThreadRepository) WriteSnapshotsDue(ctx context.Context) (written int, err error) {
	finder, able := r.gateway.(DueFinder)
	if !able {
		return 0, nil
	}
	for due, err := range finder.SnapshotsDue(ctx, AggregateType, r.snapshotter.every-1) {
		if err != nil {
			return written, fmt.Errorf("find the threads that lack a snapshot: %w", err)
		}
		head, err := headOf(due)
		if err != nil {
			return written, err
		}
		state, err := r.Reload(ctx, head.Key)
		if err != nil {
			return written, err
		}
		if err := r.SaveSnapshot(ctx, head.Key, state); err != nil {
			return written, err
		}
		written++
	}
	return written, nil
}
