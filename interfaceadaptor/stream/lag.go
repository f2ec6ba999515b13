package stream

import "time"

// Lag is how far a projection is behind the journal.
type Lag struct {
	// Behind is the age of the oldest record that is not in the read model yet; 0 when there is none. Where that record
	// can't be read, it is the time since the source last knew that there was none.
	Behind time.Duration
	// Records is how many are not in the read model yet.
	Records int
	// AtLeast says that there may be more than Records: the count reached its bound, or could not be taken.
	AtLeast bool
}
