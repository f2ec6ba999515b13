package projection

import (
	"time"

	"example.com/threads/es"
)

// Record is a journal record as a source delivered it. It is not checked yet.
type Record struct {
	Key     es.AggregateID
	SeqNr   uint64
	Payload []byte // the whole event, encoded
}

// Head is an aggregate and its version.
type Head struct {
	Key     es.AggregateID
	Version uint64
}

// Checkpoint is how far a shard of a source has been projected. Only the source understands Position.
type Checkpoint struct {
	Source   string // such as the stream's ARN, or the queue's name
	Shard    string
	Position string
}

// Batch is what a source hands over at once: records in the source's order, and the checkpoint to store with the rows
// that they change. Both may be empty.
type Batch struct {
	Records    []Record
	Checkpoint Checkpoint
}

// Position is how far an aggregate has been projected.
type Position struct {
	Version uint64      // SeqNr of the last event that is in the rows
	Parked  *DeadLetter // nil: not parked
}

// moved returns the changes that set the position of an aggregate, which stays parked if it is.
func (p Position) moved(key es.AggregateID, version uint64, at time.Time) Changes {
	changes := Changes{Versions: map[es.AggregateID]uint64{key: version}, At: at}
	if p.Parked != nil {
		changes.Parked = map[es.AggregateID]DeadLetter{key: *p.Parked}
	}
	return changes
}

// DeadLetter describes a parked aggregate: its rows do not change until the event SeqNr can be projected.
type DeadLetter struct {
	Key      es.AggregateID
	SeqNr    uint64
	EventID  string // empty if it could not be read
	Payload  []byte // as stored in the journal; empty if it could be decoded
	Reason   string
	Attempts int // for this event
	ParkedAt time.Time
	RetryAt  time.Time
}

// Changes is what a transaction writes to the [Store], beside rows.
type Changes struct {
	Versions   map[es.AggregateID]uint64     // new positions
	Parked     map[es.AggregateID]DeadLetter // those of Versions that are parked; all others are not
	Released   []es.AggregateID              // aggregates that are no longer parked
	Types      []Type
	Checkpoint Checkpoint // zero: none
	At         time.Time  // time of the change
}

// Outcome counts the results of a batch, a retry or a repair.
type Outcome struct {
	Applied      int // events from the source that were applied
	Duplicates   int // records whose events were already in the rows
	Filled       int // events from the journal that were applied
	Held         int // records of parked aggregates; the retry reads their events from the journal
	Unreadable   int // records that cannot be decoded
	Unregistered int // records of aggregate types without a handler
	Parked       int // how often an aggregate was parked, including again
	Released     int // aggregates that are no longer parked
	Repairs      int // completed repairs
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
