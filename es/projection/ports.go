package projection

import (
	"context"
	"errors"
	"time"

	"example.com/threads/es"
)

// Handler projects the events of one aggregate type.
type Handler interface {
	// Type returns the aggregate type, such as "order".
	Type() string
	// DecodeEvent decodes the payload of a journal record, as an [es.AnyAggregate] does. An event that changes no row
	// may have a nil Event. With an error it returns an event with the EventID, if that could be read.
	DecodeEvent(payload []byte) (Event, error)
	// Load reads the rows that the events need, in the transaction tx. The events are those of all aggregates of this
	// type that the transaction may apply. Errors are those of [Store].
	Load(ctx context.Context, tx Tx, events []Event) (Fold, error)
}

// Event is an event of any aggregate type.
type Event = es.Recorded[any]

// Fold holds the rows of one transaction, or of one aggregate, in memory.
type Fold interface {
	// Apply applies an event, the next one of its aggregate, to the rows. An error means that the event contradicts the
	// rows; it changes nothing and parks the aggregate.
	Apply(event Event) error
	// Save stores the changed rows in the transaction tx. Errors are those of [Store]. After [ErrRefused] the engine
	// finds the event that causes it and parks its aggregate.
	Save(ctx context.Context, tx Tx) error
}

// Store keeps the positions, checkpoints and dead letters of a projection. All methods may be called concurrently, from
// any number of processes. Errors are, wrapped, [ErrTransient] or [ErrRefused]; anything else is a fault of the whole
// database, such as a missing table.
type Store interface {
	// Change runs change in one transaction. It commits when change returns nil and rolls back otherwise. When the
	// commit fails with ErrTransient, the outcome is unknown.
	Change(ctx context.Context, change func(ctx context.Context, tx Tx) error) error
	// View runs read in a transaction that sees one moment of the database, and neither locks nor saves.
	View(ctx context.Context, read func(ctx context.Context, tx Tx) error) error
	// Versions returns the version of each aggregate that has a position. It takes no locks.
	Versions(ctx context.Context, keys []es.AggregateID) (map[es.AggregateID]uint64, error)
	// Parked lists at most limit dead letters that are due by then, of aggregates after a key, in the order of keys.
	// One whose time is more than an hour later is listed, too: it was stored while the clock was ahead.
	Parked(ctx context.Context, due time.Time, after es.AggregateID, limit int) ([]DeadLetter, error)
	// Skipped returns the ids of the events that operators have decided to leave out, by their aggregates and seq_nrs.
	// An id is empty if the event could not be read.
	Skipped(ctx context.Context) (map[AtVersion]string, error)
	// Positions lists at most limit positions after a key, in the order of keys: tenant, type and id.
	Positions(ctx context.Context, after es.AggregateID, limit int) ([]AtVersion, error)
	// Types lists the stored aggregate types, in any order.
	Types(ctx context.Context) ([]Type, error)
}

// Tx is a transaction of the [Store]. A [Handler] gets its rows through it.
type Tx interface {
	// Load reads the positions of the aggregates that have one, and locks them until the transaction ends. A missing
	// position cannot be locked: if another transaction inserts it first, Save fails with ErrTransient.
	Load(ctx context.Context, keys []es.AggregateID) (map[es.AggregateID]Position, error)
	// Save writes changes to aggregates that were loaded. It is called once.
	Save(ctx context.Context, changes Changes) error
}

// Checkpoints store how far sources have been projected. Sources read them; the [Projector] writes them.
type Checkpoints interface {
	// Checkpoints lists the checkpoints of a source, in no order.
	Checkpoints(ctx context.Context, source string) ([]Checkpoint, error)
	// Forget deletes the checkpoints of shards that the source no longer has. A missing checkpoint is no error.
	Forget(ctx context.Context, source string, shards ...string) error
}

// Errors of a [Store]. Compare with [errors.Is].
var (
	// ErrTransient: the same call may succeed a moment later, as after a deadlock or a lost connection.
	ErrTransient = errors.New("the database did not take the change this time")
	// ErrRefused: the database refuses the data, and would refuse it again.
	ErrRefused = errors.New("the database does not take the data")
	// ErrTermOver says that another process has got the turn to write since: nothing was written, and nothing will be.
	ErrTermOver = errors.New("another process writes these rows now")
)

// Record is a journal record as a source delivered it. It is not checked yet.
type Record struct {
	Key     es.AggregateID
	SeqNr   uint64
	Payload []byte // the whole event, encoded
}

// AtVersion is an aggregate at a version, or the event that made it.
type AtVersion struct {
	Key     es.AggregateID `db:"tenant_code,aggregate_type,aggregate_id"`
	Version uint64         `db:"version"`
}

// Checkpoint is how far a shard of a source has been projected. Only the source understands Position.
type Checkpoint struct {
	Source   string `db:"source"` // such as the stream's ARN, or the queue's name
	Shard    string `db:"shard"`
	Position string `db:"position"`
}

// Batch is what a source hands over at once. Both may be empty.
type Batch struct {
	Records    []Record   // in the source's order
	Checkpoint Checkpoint // to store with the rows that they change
}

// Position is how far an aggregate has been projected.
type Position struct {
	Version uint64      // SeqNr of the last event that is in the rows
	Parked  *DeadLetter // nil: not parked
}

// DeadLetter describes a parked aggregate: its rows do not change until the event SeqNr can be projected.
type DeadLetter struct {
	Projection string         `json:"projection" db:"projection"` // or the set of rows that it is in
	Key        es.AggregateID `json:"-" db:"tenant_code,aggregate_type,aggregate_id"`
	SeqNr      uint64         `json:"seq_nr" db:"seq_nr"`
	EventID    string         `json:"event_id" db:"event_id"` // empty if it could not be read
	Payload    []byte         `json:"-" db:"payload"`         // empty, but in letters of former releases
	Reason     string         `json:"reason" db:"reason"`
	Attempts   int            `json:"attempts" db:"attempts"` // for this event
	ParkedAt   time.Time      `json:"parked_at" db:"parked_at"`
	RetryAt    time.Time      `json:"retry_at" db:"retry_at"`
}

// Changes is what a transaction writes to the [Store], beside rows.
type Changes struct {
	Positions  map[es.AggregateID]Position
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
	o.Applied += other.Applied
	o.Duplicates += other.Duplicates
	o.Filled += other.Filled
	o.Held += other.Held
	o.Unreadable += other.Unreadable
	o.Unregistered += other.Unregistered
	o.Parked += other.Parked
	o.Released += other.Released
	o.Repairs += other.Repairs
	return o
}

// Sink receives a source's records; [Projector] implements it. It may be called concurrently.
type Sink interface {
	// Begin must be called before the first batch, and again after a failure; see [Projector.Begin].
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
	Records int `db:"behind_records"`
	// AtLeast means that both values may be higher.
	AtLeast bool `db:"at_least"`
}
