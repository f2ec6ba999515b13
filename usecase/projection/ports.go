package projection

import (
	"context"
	"errors"
	"iter"
	"time"

	"example.com/threads/usecase"
)

// Journal is where every event is. It reads consistently: what was acknowledged before the call is seen by it.
type Journal interface {
	// EventsAfter yields the records of an aggregate whose seq_nr is above after, in order and without a gap, page by
	// page, up to the version that the aggregate's head shows. It ends after an error. An aggregate without a head has
	// none.
	EventsAfter(ctx context.Context, key usecase.Key, after uint64) iter.Seq2[Record, error]
	// Heads yields every aggregate of a type and its version, in no order: for repairs, not for the path of an event.
	// It ends after an error.
	Heads(ctx context.Context, aggregateType string) iter.Seq2[Head, error]
}

// Handler is what a projection does with the events of one aggregate type.
type Handler interface {
	// Type is the aggregate type, such as "order".
	Type() string
	// Decode reads the payload of a journal record. With an error, the event's EventID is what could be made out of it.
	Decode(payload []byte) (Event, error)
	// Load reads the rows that events need, in the transaction tx. The events are those of all aggregates of the type
	// that the transaction may apply. Errors are those of [Store].
	Load(ctx context.Context, tx Tx, events []Event) (Fold, error)
}

// Event is an event of any aggregate type.
type Event = usecase.Recorded[any]

// Fold is the rows of one transaction, in memory.
type Fold interface {
	// Apply brings an event into the rows: the next one of its aggregate. An error says that the event contradicts the
	// rows and changes nothing; it parks the aggregate.
	Apply(event Event) error
	// Save stores what Apply has changed, in the transaction. Errors are those of [Store]: with [ErrRefused] the engine
	// finds out which event is the reason and parks its aggregate.
	Save(ctx context.Context) error
}

// Store is where a projection keeps how far it is. All methods may be called concurrently, from any number of
// processes.
//
// Errors: [ErrTransient], wrapped, when the same call may succeed a moment later; [ErrRefused], wrapped, when the
// database does not take the data, so that the same call would fail again; anything else is a fault of the database as
// a whole, such as a missing table.
type Store interface {
	// Change runs change in one transaction and commits it when change returns nil; otherwise nothing has happened.
	// When the commit fails with ErrTransient the outcome is unknown.
	Change(ctx context.Context, change func(ctx context.Context, tx Tx) error) error
	// Versions tells how far those of the aggregates are that have a position, without waiting for anybody.
	Versions(ctx context.Context, keys []usecase.Key) (map[usecase.Key]uint64, error)
	// Parked lists the dead letters whose RetryAt has come, those that wait longest first.
	Parked(ctx context.Context, now time.Time, limit int) ([]DeadLetter, error)
	// RetryNow makes every parked aggregate due.
	RetryNow(ctx context.Context, now time.Time) error
	// Skipped are the numbers of an aggregate's events that an operator has decided to leave out.
	Skipped(ctx context.Context, key usecase.Key) (map[uint64]bool, error)
	// Positions lists positions in the order of tenant, type and id, behind after, up to a limit.
	Positions(ctx context.Context, after usecase.Key, limit int) ([]Head, error)
	// Types lists what is remembered of aggregate types, in no order.
	Types(ctx context.Context) ([]Type, error)
}

// Tx is a transaction of the [Store]. A [Handler] gets its rows through it.
type Tx interface {
	// Load reads the positions of aggregates, as far as there are any, and locks them until the transaction ends:
	// another one that loads them waits. A position that is not there can't be locked: when another transaction makes
	// it first, Save fails with ErrTransient.
	Load(ctx context.Context, keys []usecase.Key) (map[usecase.Key]Position, error)
	// Save writes changes to aggregates that were loaded. It is called once.
	Save(ctx context.Context, changes Changes) error
}

// Checkpoints are how far sources have been projected. Sources read them; the [Projector] writes them.
type Checkpoints interface {
	// Checkpoints lists the checkpoints of a source, in no order.
	Checkpoints(ctx context.Context, source string) ([]Checkpoint, error)
	// Forget takes the checkpoints of shards away that the source has no more. One that is not there is no error.
	Forget(ctx context.Context, source string, shards ...string) error
}

// What a [Store] says about a failure. Compare with [errors.Is].
var (
	// ErrTransient says that the same may succeed a moment later: a deadlock, a lost connection, a row that another
	// transaction made first.
	ErrTransient = errors.New("the database did not take the change this time")
	// ErrRefused says that the database does not take the data, and would not the next time either.
	ErrRefused = errors.New("the database does not take the data")
	// ErrTermOver says that another process has got the turn to write since: nothing was written, and nothing will be.
	ErrTermOver = errors.New("another process writes these rows now")
)
