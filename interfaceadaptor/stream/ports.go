package stream

import (
	"context"

	"example.com/threads/usecase/projection"
)

// Projector is what a source feeds; [projection.Projector] has it. It may be called concurrently.
type Projector interface {
	// Project brings a batch into the read model and stores its checkpoint, together. A batch without records stores the
	// checkpoint alone. After an error the source hands the same batch over again, for as long as it takes: what can never be
	// projected has to be set aside, not returned.
	Project(ctx context.Context, batch projection.Batch) (projection.Outcome, error)
}

// RepairingProjector is what a source feeds whose records can be lost to it; [projection.Projector] has it, too.
type RepairingProjector interface {
	Projector

	// Repair brings everything into the read model that is in the journal when it is called. A source asks for it when it
	// can't vouch for having seen every record; calling it more often than needed costs reads and changes nothing. It may be
	// called concurrently.
	Repair(ctx context.Context) (projection.Outcome, error)
}
