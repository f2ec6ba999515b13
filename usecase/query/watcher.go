package query

import (
	"context"
	"log/slog"
	"maps"
	"sync"
	"time"

	"example.com/threads/es"
)

// The pauses between two polls of a [Watcher].
const (
	urgentPause  = 5 * time.Millisecond   // while a query waits for a version
	relaxedPause = 50 * time.Millisecond  // while only subscriptions wait
	brokenPause  = 500 * time.Millisecond // while the read model cannot be read
)

// Watcher waits for versions to arrive in the read model. One read serves all waiting queries and subscriptions; while
// there are none, it reads nothing. It is safe for concurrent use.
type Watcher struct {
	versions VersionReader
	log      *slog.Logger
	kick     chan struct{} // requests a read at once

	mu    sync.Mutex
	waits map[*waiter]struct{}
}

// waiter is a caller that waits for aggregates to reach versions.
type waiter struct {
	least  map[es.AggregateID]uint64 // versions still missing
	urgent bool
	done   chan error // receives one result
}

// NewWatcher returns a watcher. Waiting callers are only answered by [Watcher.Run] or [Watcher.Wake].
func NewWatcher(versions VersionReader, log *slog.Logger) *Watcher {
	return &Watcher{versions: versions, log: log, kick: make(chan struct{}, 1), waits: map[*waiter]struct{}{}}
}

// Await returns when every aggregate has reached its version. It fails with ctx's error, or with the error of reading
// the versions.
func (w *Watcher) Await(ctx context.Context, least map[es.AggregateID]uint64) error {
	return w.await(ctx, &waiter{least: maps.Clone(least), urgent: true, done: make(chan error, 1)})
}

// AwaitChange returns when the aggregate's version is above after. It fails with ctx's error.
func (w *Watcher) AwaitChange(ctx context.Context, key es.AggregateID, after uint64) error {
	return w.await(ctx, &waiter{least: map[es.AggregateID]uint64{key: after + 1}, done: make(chan error, 1)})
}

func (w *Watcher) await(ctx context.Context, wait *waiter) error {
	w.mu.Lock()
	idle := len(w.waits) == 0
	w.waits[wait] = struct{}{}
	w.mu.Unlock()
	if idle || wait.urgent {
		select {
		case w.kick <- struct{}{}:
		default:
		}
	}
	defer func() {
		w.mu.Lock()
		delete(w.waits, wait)
		w.mu.Unlock()
	}()
	select {
	case err := <-wait.done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Wake reports versions that aggregates have reached, so that callers need not wait for the next read. A projection in
// the same process calls it after a commit.
func (w *Watcher) Wake(versions map[es.AggregateID]uint64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for wait := range w.waits {
		for key, least := range wait.least {
			if version, known := versions[key]; known && version >= least {
				delete(wait.least, key)
			}
		}
		if len(wait.least) == 0 {
			w.end(wait, nil)
		}
	}
}

// end gives a waiter its result. The caller holds w.mu.
func (w *Watcher) end(wait *waiter, result error) {
	delete(w.waits, wait)
	wait.done <- result
}

// Run polls for versions until ctx ends.
func (w *Watcher) Run(ctx context.Context) {
	broken := false
	for ctx.Err() == nil {
		keys, pause := w.pending()
		if len(keys) > 0 {
			err := w.read(ctx, keys)
			switch {
			case err != nil && ctx.Err() == nil:
				if !broken {
					w.log.ErrorContext(ctx, "can't read the versions of the read model; queries with a consistency token fail until it can be read", "error", err)
				}
				pause = brokenPause
			case err == nil && broken:
				w.log.InfoContext(ctx, "the versions of the read model can be read again")
			}
			broken = err != nil
		}
		w.pause(ctx, pause)
	}
}

// pending lists the aggregates that callers wait for, and the delay until the next read; 0: wait for a caller.
func (w *Watcher) pending() (keys []es.AggregateID, pause time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	known := map[es.AggregateID]bool{}
	for wait := range w.waits {
		if wait.urgent {
			pause = urgentPause
		} else if pause == 0 {
			pause = relaxedPause
		}
		for key := range wait.least {
			if !known[key] {
				known[key] = true
				keys = append(keys, key)
			}
		}
	}
	return keys, pause
}

const versionsTimeout = 2 * time.Second

// read reads the versions once. On failure, queries get the error, because their clients can retry; subscriptions keep
// waiting.
func (w *Watcher) read(ctx context.Context, keys []es.AggregateID) error {
	ctx, cancel := context.WithTimeout(ctx, versionsTimeout)
	defer cancel()
	versions, err := w.versions.Versions(ctx, keys)
	if err == nil {
		w.Wake(versions)
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for wait := range w.waits {
		if wait.urgent {
			w.end(wait, err)
		}
	}
	return err
}

func (w *Watcher) pause(ctx context.Context, pause time.Duration) {
	var next <-chan time.Time
	if pause > 0 {
		next = time.After(pause)
	}
	select {
	case <-ctx.Done():
	case <-w.kick:
	case <-next:
	}
}
