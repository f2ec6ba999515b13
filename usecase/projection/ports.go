package projection

import (
	"context"
	"iter"
	"time"

	"example.com/threads/domain/thread"
	"example.com/threads/usecase"
)

// Journal is where every event is. It reads consistently: what was acknowledged before the call is seen by it.
type Journal interface {
	// EventsAfter yields the events of a thread whose seq_nr is above after, in order and without a gap, read page by
	// page. An event that can't be read comes as an *UnreadableError, after which the sequence ends; so it does after any
	// other error. A thread that does not exist has no events.
	EventsAfter(ctx context.Context, key usecase.Key, after uint64) iter.Seq2[usecase.Recorded[thread.Event], error]
	// Heads yields every thread and its version, in no order: for repairs, not for the path of an event. It ends after
	// an error.
	Heads(ctx context.Context) iter.Seq2[Head, error]
}

// Head is a thread and its version.
type Head struct {
	Key     usecase.Key
	Version uint64
}

// ReadModel is where the rows are. All methods may be called concurrently, from any number of processes.
//
// Errors: [ErrTransient], wrapped, when the same call may succeed a moment later; [ErrRefused], wrapped, when the
// database does not take the data, so that the same call would fail again; anything else is a fault of the database as a
// whole, such as a missing table.
type ReadModel interface {
	// Change runs change in one transaction and commits it when change returns nil; otherwise nothing has happened. When
	// the commit fails with ErrTransient the outcome is unknown.
	Change(ctx context.Context, change func(ctx context.Context, tx Tx) error) error
	// Versions tells the versions of those of the threads that have a row, without waiting for anybody.
	Versions(ctx context.Context, keys []usecase.Key) (map[usecase.Key]uint64, error)
	// Parked lists the threads that are parked and whose RetryAt has come, those that wait longest first.
	Parked(ctx context.Context, now time.Time, limit int) ([]DeadLetter, error)
	// RetryNow makes every parked thread due.
	RetryNow(ctx context.Context, now time.Time) error
}

// Tx is a transaction of the [ReadModel].
type Tx interface {
	// Load reads rows, as far as they are there. The threads' rows and dead letters are locked until the transaction
	// ends: another one that loads them waits. A row that is not there can't be locked: when another transaction makes it
	// first, Save fails with ErrTransient.
	Load(ctx context.Context, wanted Wanted) (Rows, error)
	// Save writes changes to threads that were loaded. It is called once.
	Save(ctx context.Context, changes Changes) error
}

// Checkpoints are how far sources have been projected. Sources read them; the [Projector] writes them.
type Checkpoints interface {
	// Checkpoints lists the checkpoints of a source, in no order.
	Checkpoints(ctx context.Context, source string) ([]Checkpoint, error)
	// Forget takes the checkpoints of shards away that the source has no more. One that is not there is no error.
	Forget(ctx context.Context, source string, shards ...string) error
}
