package relational

import (
	"context"
	"log/slog"

	"example.com/threads/interfaceadaptor/repository"
	"example.com/threads/usecase/projection"
)

// Queue is an event store that numbers the events of all aggregates.
type Queue interface {
	// Read returns up to limit entries behind a position, in order. Behind the last of them, nothing with a lower
	// position can appear. One goroutine at a time calls it.
	Read(ctx context.Context, after uint64, limit int) ([]repository.Queued, error)
	// Backlog tells what is behind a position, including what Read does not give yet.
	Backlog(ctx context.Context, after uint64) (repository.Backlog, error)
	// End is the position of the last entry; 0 when there is none.
	End(ctx context.Context) (uint64, error)
	// StoreID tells the event store from any other that may be in its place another time.
	StoreID(ctx context.Context) (string, error)
}

// Projector is what a source feeds; [projection.Projector] has it.
type Projector interface {
	// Project brings a batch into the read model and stores its checkpoint, together. After an error the source hands
	// the same batch over again, for as long as it takes: what can never be projected has to be set aside, not returned.
	Project(ctx context.Context, batch projection.Batch) (projection.Outcome, error)
}

// Ports is what a source works with.
type Ports struct {
	Queue       Queue
	Projector   Projector
	Checkpoints projection.Checkpoints
	Log         *slog.Logger
}
