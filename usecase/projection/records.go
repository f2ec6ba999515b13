package projection

import (
	"time"

	"example.com/threads/usecase"
)

// Record is a journal record as a source saw it. Nothing of it is believed yet.
type Record struct {
	Key     usecase.Key
	SeqNr   uint64
	Payload []byte // the whole event, in its type's notation
}

// Head is an aggregate and its version.
type Head struct {
	Key     usecase.Key
	Version uint64
}

// Checkpoint is how far a shard of a source has been projected. Position is the source's own notation; the source
// reads it back, nobody else does.
type Checkpoint struct {
	Source   string // such as the stream's ARN, or the queue's name
	Shard    string
	Position string
}

// Batch is what a source hands over at once: records in the source's order, and the checkpoint to remember with the
// rows that they change. Both may be empty.
type Batch struct {
	Records    []Record
	Checkpoint Checkpoint
}

// Position is how far an aggregate has been projected.
type Position struct {
	Version uint64      // seq_nr of the last event that is in the rows
	Parked  *DeadLetter // nil: it is not parked
}

// DeadLetter says that an aggregate is parked: its rows stay below SeqNr until that event can be projected.
type DeadLetter struct {
	Key      usecase.Key
	SeqNr    uint64
	EventID  string // as far as it could be read
	Payload  []byte // as it stands in the journal; empty where that could be read
	Reason   string
	Attempts int // on this event
	ParkedAt time.Time
	RetryAt  time.Time
}

// Changes is what a transaction leaves behind in the [Store], beside rows.
type Changes struct {
	Versions   map[usecase.Key]uint64     // the positions from now on
	Parked     map[usecase.Key]DeadLetter // those of them that are parked; the others are not
	Released   []usecase.Key              // those that were parked and are not any more
	Types      []Type
	Checkpoint Checkpoint // the zero value: none
	At         time.Time  // when
}

// Outcome counts what has become of a batch, a retry or a repair.
type Outcome struct {
	Applied      int // events that came from the source and are in the rows now
	Duplicates   int // records whose events were in the rows before
	Filled       int // events that came from the journal and are in the rows now
	Held         int // records that wait in the journal because their aggregate is parked
	Unreadable   int // records that can't be read as an event of their type
	Unregistered int // records of aggregate types that have no handler
	Parked       int // times that an aggregate was parked, repeated parkings of the same one included
	Released     int // aggregates that were parked and are not any more
	Repairs      int // comparisons of all aggregates with the journal that were completed
}

func (o Outcome) plus(other Outcome) Outcome {
	return Outcome{
		Applied:      o.Applied + other.Applied,
		Duplicates:   o.Duplicates + other.Duplicates,
		Filled:       o.Filled + other.Filled,
		Held:         o.Held + other.Held,
		Unreadable:   o.Unreadable + other.Unreadable,
		Unregistered: o.Unregistered + other.Unregistered,
		Parked:       o.Parked + other.Parked,
		Released:     o.Released + other.Released,
		Repairs:      o.Repairs + other.Repairs,
	}
}
