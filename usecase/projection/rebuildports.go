package projection

import (
	"context"
	"fmt"
	"iter"
	"time"

	"example.com/threads/usecase"
)

// Page is some records of the journal, and where to go on behind them.
type Page struct {
	Records []Record
	Next    string // the journal's own notation; it hands it back
}

// WholeJournal is a [Journal] that can be read from one end to the other.
type WholeJournal interface {
	Journal
	// Parts is into how many parts it is best divided for reading them at once. An aggregate's records are in one part.
	Parts() int
	// Read yields the records of a part page by page, behind a page's Next or from the beginning (""). What is written
	// meanwhile may or may not show. It ends after an error.
	Read(ctx context.Context, part, parts int, after string) iter.Seq2[Page, error]
}

// RowSets are the sets of rows of a projection: the live one, one that is being made, and the one that was live before.
// Errors are those of [Store].
type RowSets interface {
	// Lock sees that there is one rebuild at a time, where the database can; false: there is another one.
	Lock(ctx context.Context) (release func(), locked bool, err error)
	// State is how far the latest rebuild is; the zero value: there was none.
	State(ctx context.Context) (RebuildState, error)
	// Begin drops what is not live, and makes a new empty set for handlers.
	Begin(ctx context.Context, handlers string, now time.Time) error
	// Prepare makes what is missing of a set that was begun.
	Prepare(ctx context.Context) error
	// Next is the set that is being made.
	Next(ctx context.Context) (Making, error)
	// Save stores how far the rebuild is, and tells whether somebody has asked for its end.
	Save(ctx context.Context, state RebuildState) (cancelled bool, err error)
	// Cancel asks a rebuild to end.
	Cancel(ctx context.Context) error
	// Switch makes the set that was made the live one, in one step for readers and writers. While nobody else writes,
	// level brings it level; with an error of level nothing is switched. When it is live already, nothing happens.
	Switch(ctx context.Context, level func(context.Context, Making) error) error
	// Settle does what is left to do once the set is live.
	Settle(ctx context.Context) error
	// Drop drops every set but the live one.
	Drop(ctx context.Context) error
	// Handlers are the versions of the handlers that the live rows were made with; "" where nobody has told.
	Handlers(ctx context.Context) (string, error)
	// SaveHandlers tells them.
	SaveHandlers(ctx context.Context, handlers string) error
}

// Making is the [Store] of a set that is being made.
type Making interface {
	Store
	// Checkpoint is the position stored for a shard of [RebuildSource]; "": none.
	Checkpoint(ctx context.Context, shard string) (string, error)
	// Behind lists the positions of the live set that this one is behind, in the order of their keys, behind after, up
	// to a limit. Those that are parked here are left out.
	Behind(ctx context.Context, after usecase.Key, limit int) ([]Head, error)
	// NewlyParked lists dead letters of aggregates that are not parked in the live set.
	NewlyParked(ctx context.Context, limit int) ([]DeadLetter, error)
	// Skips are the numbers of the events that operators have decided to leave out of the projection.
	Skips(ctx context.Context) (map[usecase.Key]map[uint64]bool, error)
}

// RebuildSource is the source of the checkpoints of a rebuild.
const RebuildSource = "journal"

// RebuildState is how far a rebuild is.
type RebuildState struct {
	Set       string // the name of the set that it makes; "": there was no rebuild
	Handlers  string // the versions of the handlers that make it
	Phase     Phase
	Done      uint64 // events that are in the new rows
	Total     uint64 // events that are to be, as far as is known
	Cancelled bool   // somebody has asked for its end
	Failure   string // why it stopped the last time; "": it did not
	StartedAt time.Time
	UpdatedAt time.Time
	Live      bool // its set is the live one
}

// Over tells that there is nothing left to do.
func (s RebuildState) Over() bool {
	return s.Phase == NoRebuild || s.Phase == Done || s.Phase == Cancelled
}

// Left estimates the time until all events are read; 0 where there is no telling. since and from are when this process
// began, and how many events were in the rows then.
func (s RebuildState) Left(now, since time.Time, from uint64) time.Duration {
	if s.Done <= from || s.Total <= s.Done {
		return 0
	}
	return time.Duration(float64(now.Sub(since)) / float64(s.Done-from) * float64(s.Total-s.Done))
}

// Phase is what a rebuild is about.
type Phase int

// The phases, in their order.
const (
	NoRebuild  Phase = iota
	Reading          // the journal, from one end to the other
	CatchingUp       // with the live set
	Verifying        // the new rows against the journal
	Switching        // the new set takes the place of the live one
	Settling         // once more the live rows are compared with the journal
	Done
	Cancelled
)

var phases = [...]string{"none", "reading", "catching up", "verifying", "switching", "settling", "done", "cancelled"}

func (p Phase) String() string { return phases[p] }

// ParsePhase reads what String writes.
func ParsePhase(text string) (Phase, error) {
	for phase, name := range phases {
		if name == text {
			return Phase(phase), nil
		}
	}
	return NoRebuild, fmt.Errorf("no phase of a rebuild: %q", text)
}
