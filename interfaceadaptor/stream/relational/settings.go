package relational

import (
	"cmp"
	"context"
	"log/slog"
	"time"

	"example.com/threads/interfaceadaptor/eventstore"
	"example.com/threads/interfaceadaptor/stream"
	"example.com/threads/usecase/projection"
)

// Queue is an event store that numbers the events of all aggregates.
type Queue interface {
	// Read returns up to limit entries behind a position, in order. Behind the last of them, nothing with a lower
	// position can appear. One goroutine at a time calls it.
	Read(ctx context.Context, after uint64, limit int) ([]eventstore.Queued, error)
	// Backlog tells what is behind a position, including what Read does not give yet.
	Backlog(ctx context.Context, after uint64) (eventstore.Backlog, error)
	// End is the position of the last entry; 0 when there is none.
	End(ctx context.Context) (uint64, error)
	// StoreID tells the event store from any other that may be in its place another time.
	StoreID(ctx context.Context) (string, error)
}

// Ports is what a source works with.
type Ports struct {
	Queue       Queue
	Projector   stream.Projector
	Checkpoints projection.Checkpoints
	Log         *slog.Logger
}

// Settings is how a source reads. The zero value of a field stands for the default behind it.
type Settings struct {
	// PollMin is the wait between two polls while events come (5 ms), and PollMax the longest wait when none come
	// (100 ms). [Source.Wake] ends a wait.
	PollMin, PollMax time.Duration
	// Gather is the time from a poll that finds events to the next, however soon Wake is called (2 ms): events that
	// come one upon the other share a transaction, and one that comes alone waits for nobody. A full page is not waited
	// after.
	Gather time.Duration
	// PageSize is how many events are read and projected at once (500).
	PageSize int
	// Grace is how long a batch that is being projected may still take after Run's context has ended (8 s).
	Grace time.Duration
	// StallAfter is the time without progress after which Health says that the source has stalled (10 s).
	StallAfter time.Duration
}

func (s Settings) withDefaults() Settings {
	s.PollMin = cmp.Or(s.PollMin, 5*time.Millisecond)
	s.PollMax = max(s.PollMin, cmp.Or(s.PollMax, 100*time.Millisecond))
	s.Gather = cmp.Or(s.Gather, 2*time.Millisecond)
	s.PageSize = cmp.Or(s.PageSize, 500)
	s.Grace = cmp.Or(s.Grace, 8*time.Second)
	s.StallAfter = cmp.Or(s.StallAfter, 10*time.Second)
	return s
}
