package projection

import (
	"context"
	"iter"
	"time"

	"example.com/threads/es"
)

// Page is a page of journal records, with the position after them.
type Page struct {
	Records []Record
	Next    string // opaque; passed back to Read
}

// WholeJournal is a [Journal] that can be read from the beginning to the end.
type WholeJournal interface {
	Journal
	// Parts returns the best number of parts to read concurrently. All records of an aggregate are in one part.
	Parts() int
	// Read yields the records of a part page by page, after a page's Next or from the beginning (""). Records written
	// meanwhile may be missing. It ends after an error.
	Read(ctx context.Context, part, parts int, after string) iter.Seq2[Page, error]
}

// RowSets are the sets of rows of a projection: the live one, the new one, and the previous one. Errors are those of
// [Store].
type RowSets interface {
	// Lock ensures that only one rebuild runs, if the database can. It fails with [ErrRebuilding] if another one is
	// running. held ends with ctx, or with [ErrLockLost] as its cause.
	Lock(ctx context.Context) (held context.Context, release func(), err error)
	// State returns the progress of the latest rebuild; the zero value: there was none.
	State(ctx context.Context) (RebuildState, error)
	// Begin drops the sets that are not live and creates an empty one for handlers.
	Begin(ctx context.Context, handlers string, now time.Time) error
	// Prepare creates the missing tables of a set that was begun.
	Prepare(ctx context.Context) error
	// Index makes the indexes that the new set still lacks. Until then its rows are found by their primary keys only.
	Index(ctx context.Context) error
	// Next returns the new set.
	Next(ctx context.Context) (Making, error)
	// Save stores the progress and reports whether the rebuild was cancelled.
	Save(ctx context.Context, state RebuildState) (cancelled bool, err error)
	// Cancel requests the end of a rebuild.
	Cancel(ctx context.Context) error
	// Switch makes the new set the live one, atomically for readers and writers. It locks writers out while level
	// catches up; if level fails, nothing is switched. If the set is live already, nothing happens.
	Switch(ctx context.Context, level func(context.Context, Making) error) error
	// Drop drops every set but the live one.
	Drop(ctx context.Context) error
	// Types returns the aggregate types that have positions in the live set.
	Types(ctx context.Context) ([]string, error)
	// Handlers returns the versions of the handlers that made the live rows; "" if unknown.
	Handlers(ctx context.Context) (string, error)
	// SaveHandlers stores them.
	SaveHandlers(ctx context.Context, handlers string) error
}

// Making is the [Store] of the new set.
type Making interface {
	Store
	// Checkpoint returns the position stored for a shard of [RebuildSource]; "": none.
	Checkpoint(ctx context.Context, shard string) (string, error)
	// Events returns the number of events in the rows, by their positions.
	Events(ctx context.Context) (uint64, error)
	// Behind lists at most limit live positions that this set is behind, in the order of their keys, those beyond
	// after. Aggregates parked here are left out.
	Behind(ctx context.Context, after es.AggregateID, limit int) ([]Head, error)
	// NewlyParked returns the dead letter of an aggregate that is parked here and not in the live set; false: there is
	// none.
	NewlyParked(ctx context.Context) (DeadLetter, bool, error)
	// Skips returns the SeqNrs of the events that operators have decided to leave out.
	Skips(ctx context.Context) (map[es.AggregateID]map[uint64]bool, error)
}

// RebuildSource is the source name of a rebuild's checkpoints.
const RebuildSource = "journal"

// RebuildState is the progress of a rebuild.
type RebuildState struct {
	Set       string // the name of the new set; "": there was no rebuild
	Handlers  string // the versions of its handlers
	Phase     Phase
	Done      uint64 // events in the new rows
	Total     uint64 // expected number of events, an estimate at first
	Cancelled bool   // its end was requested
	Failure   string // why it stopped last time; "": it did not
	StartedAt time.Time
	UpdatedAt time.Time
	Live      bool // its set is live
}

// Over reports that nothing is left to do.
func (s RebuildState) Over() bool {
	return s.Phase == "" || s.Phase == Done || s.Phase == Cancelled
}

// Left estimates the time until all events are read; 0: unknown. since is when this process started; from is the number
// of events in the new rows at that time.
func (s RebuildState) Left(now, since time.Time, from uint64) time.Duration {
	if s.Done <= from || s.Total <= s.Done {
		return 0
	}
	return time.Duration(float64(now.Sub(since)) / float64(s.Done-from) * float64(s.Total-s.Done))
}

// Phase is a phase of a rebuild; "": there was none.
type Phase string

// The phases, in order.
const (
	Reading    Phase = "reading"     // the whole journal
	catchingUp Phase = "catching up" // with the live set
	verifying  Phase = "verifying"   // the new rows against the journal
	switching  Phase = "switching"   // the new set becomes the live one
	settling   Phase = "settling"    // compares the live rows with the journal once more
	Done       Phase = "done"
	Cancelled  Phase = "cancelled"
)
