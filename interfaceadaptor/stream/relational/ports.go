package relational

import (
	"context"
	"log/slog"

	"example.com/threads/interfaceadaptor/eventstore"
	"example.com/threads/interfaceadaptor/stream"
	"example.com/threads/usecase/projection"
)

// Queue is an event store that numbers the events of all aggregates.
type Queue interface {
	// Read returns up to limit entries behind a position, in order. Behind the last of them, nothing with a lower
	// position can appear. One goroutine at a time calls it.
	Read(ctx context.Context, after uint64, limit int) ([]eventstore.Queued, error)
	// Backlog tells what is behind a position, including what Read does not give yet.
	Backlog(ctx context.Context, after uint64) (eventstore.Backlog, error)
	// End is the position of the last entry; 0 when there is none.
	End(ctx context.Context) (uint64, error)
	// StoreID tells the event store from any other that may be in its place another time.
	StoreID(ctx context.Context) (string, error)
}

// Ports is what a source works with.
type Ports struct {
	Queue       Queue
	Projector   stream.Projector
	Checkpoints projection.Checkpoints
	Log         *slog.Logger
}
