package relational

import (
	"context"
	"strconv"

	"example.com/threads/usecase/projection"
)

// shard is the one that a queue has.
const shard = "queue"

// bookmark is how far a queue has been projected.
type bookmark struct {
	queue    string // names the event store: another one that takes its place begins anew
	position uint64
}

func (b bookmark) checkpoint() projection.Checkpoint {
	return projection.Checkpoint{Source: b.queue, Shard: shard, Position: strconv.FormatUint(b.position, 10)}
}

// locate finds out where to go on: from the stored position, or from the first event where there is none, or none that
// this queue can have given. What is projected again by that does no harm.
func (s *Source) locate(ctx context.Context) (bookmark, error) {
	id, err := s.ports.Queue.StoreID(ctx)
	if err != nil {
		return bookmark{}, err
	}
	at := bookmark{queue: "events:" + id}
	stored, err := s.ports.Checkpoints.Checkpoints(ctx, at.queue)
	if err != nil {
		return bookmark{}, err
	}
	end, err := s.ports.Queue.End(ctx)
	if err != nil {
		return bookmark{}, err
	}
	for _, checkpoint := range stored {
		position, err := strconv.ParseUint(checkpoint.Position, 10, 63)
		switch {
		case checkpoint.Shard != shard:
		case err != nil || position > end:
			s.ports.Log.ErrorContext(ctx, "the projection has come further than this event store, as after a backup was restored: "+
				"rows of events that are gone stay as they are; make the rows anew (docs/operations.md)",
				"position", checkpoint.Position, "end", end)
		default:
			at.position = position
		}
	}
	return at, nil
}
