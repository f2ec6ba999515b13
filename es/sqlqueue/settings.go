package sqlqueue

import (
	"cmp"
	"context"
	"log/slog"
	"time"

	"example.com/threads/es"
	"example.com/threads/es/projection"
)

// Queue is an event store that numbers the events of all aggregates.
type Queue interface {
	// Read returns up to limit entries after a position, in order. No entry with a lower position than the last of them
	// can appear later. It is called by one goroutine at a time.
	Read(ctx context.Context, after uint64, limit int) ([]es.Queued, error)
	// Backlog describes the entries after a position, including those that Read does not return yet.
	Backlog(ctx context.Context, after uint64) (es.Backlog, error)
	// End returns the position of the last entry; 0 if there is none.
	End(ctx context.Context) (uint64, error)
	// StoreID identifies the event store, so that a replaced one is noticed.
	StoreID(ctx context.Context) (string, error)
}

// Ports are the dependencies of a source.
type Ports struct {
	Queue       Queue
	Projector   projection.Sink
	Checkpoints projection.Checkpoints
	Log         *slog.Logger
}

// Settings of a source. Zero fields take their defaults, which are in parentheses.
type Settings struct {
	// PollMin is the wait between two polls while events arrive (5 ms); PollMax is the longest wait without events (100
	// ms). [Source.Wake] ends a wait.
	PollMin, PollMax time.Duration
	// Gather is the minimum time from a poll that finds events to the next poll, even if Wake is called (2 ms), so that
	// events in quick succession share a transaction. A single event is not delayed, and there is no wait after a full
	// page.
	Gather time.Duration
	// PageSize is the number of events that are read and projected at once (500).
	PageSize int
	// Grace is how long a batch in progress may continue after Run's context has ended (8 s).
	Grace time.Duration
	// StallAfter is the time without progress after which Health returns an error (10 s).
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
