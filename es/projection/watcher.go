package projection

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"example.com/threads/es"
)

// The pauses between two polls of a [Watcher].
const (
	urgentPause  = 5 * time.Millisecond   // while a reader waits for a version
	relaxedPause = 50 * time.Millisecond  // while only followers wait for a change
	brokenPause  = 500 * time.Millisecond // while the rows cannot be read
)

const (
	versionsTimeout = 2 * time.Second // for one read of versions
	versionsAtOnce  = 1000            // in one read: so it takes less than that, however many wait
)

// Watcher waits for versions to arrive in the rows of a projection, for readers who name one: so they see their own
// write. One read serves all who wait; while nobody does, it reads nothing. It is safe for concurrent use.
type Watcher struct {
	versions func(context.Context, []es.AggregateID) (map[es.AggregateID]uint64, error)
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

// NewWatcher returns a watcher. versions returns the version of each aggregate that the rows have: everything up to it
// can be read when it returns. log: nil is slog.Default(). Only [Watcher.Run] or [Watcher.Wake] answer who waits.
func NewWatcher(versions func(context.Context, []es.AggregateID) (map[es.AggregateID]uint64, error), log *slog.Logger) *Watcher {
	return &Watcher{versions: versions, log: cmp.Or(log, slog.Default()), kick: make(chan struct{}, 1), waits: map[*waiter]struct{}{}}
}

// Await returns when every aggregate has reached its version. It fails with ctx's error, or that of a read.
func (w *Watcher) Await(ctx context.Context, least map[es.AggregateID]uint64) error {
	return w.await(ctx, &waiter{least: maps.Clone(least), urgent: true, done: make(chan error, 1)})
}

// AwaitChange returns when the aggregate's version is above after. It fails with ctx's error.
func (w *Watcher) AwaitChange(ctx context.Context, key es.AggregateID, after uint64) error {
	return w.await(ctx, &waiter{least: map[es.AggregateID]uint64{key: after + 1}, done: make(chan error, 1)})
}

// Waiting returns how many callers wait now: readers, and those who follow changes.
func (w *Watcher) Waiting() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.waits)
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
	select {
	case err := <-wait.done:
		return err
	case <-ctx.Done():
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.waits, wait)
		return ctx.Err()
	}
}

// Wake reports versions that aggregates have reached. A projection in the same process calls it after a commit.
func (w *Watcher) Wake(heads []AtVersion) {
	versions := make(map[es.AggregateID]uint64, len(heads))
	for _, head := range heads {
		versions[head.Key] = head.Version
	}
	w.reached(versions)
}

func (w *Watcher) reached(versions map[es.AggregateID]uint64) {
	w.endIf(nil, func(wait *waiter) bool {
		maps.DeleteFunc(wait.least, func(key es.AggregateID, least uint64) bool { return versions[key] >= least })
		return len(wait.least) == 0
	})
}

// endIf gives the waiters that meet a condition their result.
func (w *Watcher) endIf(result error, over func(*waiter) bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for wait := range w.waits {
		if over(wait) {
			delete(w.waits, wait)
			wait.done <- result
		}
	}
}

// Run polls for versions until ctx ends.
func (w *Watcher) Run(ctx context.Context) {
	broken := false
	for ctx.Err() == nil {
		keys, pause := w.pending()
		var next <-chan time.Time
		if len(keys) > 0 {
			switch err := w.readAll(ctx, keys); {
			case err != nil:
				if !broken && ctx.Err() == nil {
					w.log.ErrorContext(ctx, "can't read the versions of the rows; queries that wait for one fail until they can be read", "error", err)
				}
				pause, broken = brokenPause, true
			case broken:
				w.log.InfoContext(ctx, "the versions of the rows can be read again")
				broken = false
			}
			next = time.After(pause)
		}
		select {
		case <-ctx.Done():
		case <-w.kick:
		case <-next:
		}
	}
}

// pending lists the aggregates that callers wait for, and the delay until the next read.
func (w *Watcher) pending() (keys []es.AggregateID, pause time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	known := map[es.AggregateID]uint64{}
	for wait := range w.waits {
		if wait.urgent {
			pause = urgentPause
		} else if pause == 0 {
			pause = relaxedPause
		}
		maps.Copy(known, wait.least)
	}
	return slices.Collect(maps.Keys(known)), pause
}

// readAll reads the versions of keys, until a read fails.
func (w *Watcher) readAll(ctx context.Context, keys []es.AggregateID) error {
	for some := range slices.Chunk(keys, versionsAtOnce) {
		if err := w.read(ctx, some); err != nil {
			return err
		}
	}
	return nil
}

// read reads versions once. On failure, readers get the error, because they can ask again; followers keep waiting, and
// all do after a read that takes too long.
func (w *Watcher) read(ctx context.Context, keys []es.AggregateID) error {
	ctx, cancel := context.WithTimeout(ctx, versionsTimeout)
	defer cancel()
	versions, err := w.versions(ctx, keys)
	if err != nil {
		w.endIf(err, func(wait *waiter) bool {
			return wait.urgent && !errors.Is(context.Cause(ctx), context.DeadlineExceeded)
		})
		return err
	}
	w.reached(versions)
	return nil
}
