package sqlqueue

import (
	"context"
	"strconv"

	"example.com/threads/es/projection"
)

// shard is the name of a queue's only shard.
const shard = "queue"

// bookmark is the position up to which a queue has been projected.
type bookmark struct {
	queue    string // identifies the event store; another event store starts from the beginning
	position uint64
}

func (b bookmark) checkpoint() projection.Checkpoint {
	return projection.Checkpoint{Source: b.queue, Shard: shard, Position: strconv.FormatUint(b.position, 10)}
}

// locate returns the stored position, or the beginning if there is none or if the queue cannot have reached it.
// Projecting events again is harmless.
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
			s.ports.Log.ErrorContext(ctx, "the projection is ahead of this event store, as after a backup was restored: "+
				"rows of lost events remain; rebuild the rows (docs/operations.md)",
				"position", checkpoint.Position, "end", end)
		default:
			at.position = position
		}
	}
	return at, nil
}
