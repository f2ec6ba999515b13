package es

import (
	"context"
	"log/slog"
	"time"
)

// Settings configure a [Repository] and a [Service]. Zero fields take their defaults.
type Settings struct {
	// Timeout limits the handling of a batch of commands, including all retries. After that, commands in conflict with
	// other writers fail with [ErrConcurrentUpdate]. Default: 5 s.
	Timeout time.Duration
	// Clock returns the time for events. Default: time.Now.
	Clock func() time.Time
	// CheckClock returns why the time of Clock must not be used, if so: commands are then refused as if the store did
	// not answer. Default: no check beside that for absurd times.
	CheckClock func(context.Context) error
	// SnapshotEvery is the least number of events between snapshots of an aggregate; with a large state there are more.
	// Default: 100.
	SnapshotEvery uint64
	// CacheBytes limits the memory of the cached states. Default: 64 MiB.
	CacheBytes uint64
	// Logger receives messages for the operator. Default: slog.Default().
	Logger *slog.Logger
	// Metrics count. A type has one service or repository in them. Default: new ones, which nobody sees.
	Metrics *Metrics
}

// receiptLifetime is how long a repeat with the same idempotency key gets the first answer.
const receiptLifetime = 48 * time.Hour

func (s Settings) withDefaults() Settings {
	if s.Timeout == 0 {
		s.Timeout = 5 * time.Second
	}
	if s.Clock == nil {
		s.Clock = time.Now
	}
	if s.CheckClock == nil {
		s.CheckClock = func(context.Context) error { return nil }
	}
	if s.SnapshotEvery == 0 {
		s.SnapshotEvery = 100
	}
	if s.CacheBytes == 0 {
		s.CacheBytes = 64 << 20
	}
	if s.Logger == nil {
		s.Logger = slog.Default()
	}
	if s.Metrics == nil {
		s.Metrics = NewMetrics()
	}
	return s
}
