package projection

import (
	"context"
	"time"
)

// Sink receives a source's records; [Projector] implements it. It may be called concurrently.
type Sink interface {
	// Begin must be called before the first batch, and again after a failure. fromFirst says that the source will
	// deliver every event from the first on.
	Begin(ctx context.Context, fromFirst bool) error
	// Project applies a batch to the rows and stores its checkpoint in the same transaction. A batch without records
	// only stores the checkpoint. After an error the source hands the same batch over again, without a limit; so an
	// event that can never be projected must be parked, not returned as an error.
	Project(ctx context.Context, batch Batch) (Outcome, error)
	// OweRepair reports that the source may have lost records. When it returns nil, the source may move past the loss:
	// everything that is in the journal at the time of the call will be projected. Unneeded calls only cost reads.
	OweRepair(ctx context.Context) error
}

// Lag is how far a projection is behind the journal.
type Lag struct {
	// Behind is the age of the oldest record that is not projected; 0 if there is none. If that is not known, it is the
	// time since the source was last known to be caught up.
	Behind time.Duration
	// Records is the number of records that are not projected.
	Records int
	// AtLeast means that both values may be higher.
	AtLeast bool
}
