package query

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"example.com/threads/usecase"
)

// Pace is how often a [Watcher] looks. A zero value is the default.
type Pace struct {
	Urgent  time.Duration // while a query waits for a version: 5 ms
	Relaxed time.Duration // while only subscriptions wait: 50 ms
	Broken  time.Duration // while the read model can't be read: 500 ms
}

func (p Pace) withDefaults() Pace {
	for _, pace := range []struct {
		value    *time.Duration
		standard time.Duration
	}{{&p.Urgent, 5 * time.Millisecond}, {&p.Relaxed, 50 * time.Millisecond}, {&p.Broken, 500 * time.Millisecond}} {
		if *pace.value <= 0 {
			*pace.value = pace.standard
		}
	}
	return p
}

// Watcher knows when versions have arrived in the read model. However many wait, for however many aggregates, it reads
// the versions of all of them at once; while nobody waits it reads nothing. It is safe for concurrent use.
type Watcher struct {
	versions VersionReader
	log      *slog.Logger
	pace     Pace
	kick     chan struct{} // a wait has begun that can't wait for the next look

	mu    sync.Mutex
	waits map[*wait]struct{}
}

// wait is somebody waiting for aggregates to reach versions.
type wait struct {
	least  map[usecase.Key]uint64 // what is still missing
	urgent bool
	done   chan error // takes one result
}

// NewWatcher returns a watcher; nobody who waits gets anything before [Watcher.Run] runs or [Watcher.Wake] is called.
func NewWatcher(versions VersionReader, log *slog.Logger, pace Pace) *Watcher {
	return &Watcher{versions: versions, log: log, pace: pace.withDefaults(), kick: make(chan struct{}, 1), waits: map[*wait]struct{}{}}
}

// Await returns when every aggregate has reached its version, with ctx's error when that ends before, or with the error
// that keeps the versions from being read.
func (w *Watcher) Await(ctx context.Context, least map[usecase.Key]uint64) error {
	missing := make(map[usecase.Key]uint64, len(least))
	for key, version := range least {
		missing[key] = version
	}
	return w.await(ctx, &wait{least: missing, urgent: true, done: make(chan error, 1)})
}

// AwaitChange returns when the aggregate's version is above after, or with ctx's error when that ends before.
func (w *Watcher) AwaitChange(ctx context.Context, key usecase.Key, after uint64) error {
	return w.await(ctx, &wait{least: map[usecase.Key]uint64{key: after + 1}, done: make(chan error, 1)})
}

func (w *Watcher) await(ctx context.Context, wait *wait) error {
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

// Wake tells that aggregates have reached versions, so that those who wait need not wait for the next look. A
// projection in the same process calls it after its transaction has been committed.
func (w *Watcher) Wake(versions map[usecase.Key]uint64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for wait := range w.waits {
		for key, least := range wait.least {
			if version, told := versions[key]; told && version >= least {
				delete(wait.least, key)
			}
		}
		if len(wait.least) == 0 {
			w.end(wait, nil)
		}
	}
}

// end hands a wait its result. w.mu is held.
func (w *Watcher) end(wait *wait, result error) {
	delete(w.waits, wait)
	wait.done <- result
}

// Run looks for versions until ctx ends.
func (w *Watcher) Run(ctx context.Context) {
	broken := false
	for ctx.Err() == nil {
		keys, pause := w.look()
		if len(keys) > 0 {
			err := w.read(ctx, keys)
			switch {
			case err != nil && ctx.Err() == nil:
				if !broken {
					w.log.ErrorContext(ctx, "can't read the versions of the read model", "error", err)
				}
				pause = w.pace.Broken
			case err == nil && broken:
				w.log.InfoContext(ctx, "the versions of the read model can be read again")
			}
			broken = err != nil
		}
		w.pause(ctx, pause)
	}
}

// look lists the aggregates that are waited for, and how soon to look again; 0 is not before somebody waits.
func (w *Watcher) look() (keys []usecase.Key, pause time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	known := map[usecase.Key]bool{}
	for wait := range w.waits {
		if wait.urgent {
			pause = w.pace.Urgent
		} else if pause == 0 {
			pause = w.pace.Relaxed
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

// read looks once. When that fails, queries are told, because their clients can ask again; subscriptions wait on.
func (w *Watcher) read(ctx context.Context, keys []usecase.Key) error {
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
		timer := time.NewTimer(pause)
		defer timer.Stop()
		next = timer.C
	}
	select {
	case <-ctx.Done():
	case <-w.kick:
	case <-next:
	}
}
