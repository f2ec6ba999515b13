package stream

import (
	"context"
	"time"

	"example.com/threads/usecase/projection"
)

// Projector is what a source feeds; [projection.Projector] has it. It may be called concurrently.
type Projector interface {
	// Begin comes before the first batch, and once more after it has failed. fromFirst says that the source will bring
	// every event that there is.
	Begin(ctx context.Context, fromFirst bool) error
	// Project brings a batch into the rows and stores its checkpoint, together. A batch without records stores the
	// checkpoint alone. After an error the source hands the same batch over again, for as long as it takes: what can
	// never be projected has to be set aside, not returned.
	Project(ctx context.Context, batch projection.Batch) (projection.Outcome, error)
	// OweRepair says that records may be lost to the source. After nil the source may go on behind the loss: everything
	// that is in the journal when it is called will get into the rows. Calling it more often than needed costs reads
	// and changes nothing.
	OweRepair(ctx context.Context) error
}

// Lag is how far a projection is behind the journal.
type Lag struct {
	// Behind is the age of the oldest record that is not in the rows yet; 0 when there is none. Where that is not
	// known, it is the time since the source last knew that there was none.
	Behind time.Duration
	// Records is how many are not in the rows yet.
	Records int
	// AtLeast says that there may be more of both.
	AtLeast bool
}
