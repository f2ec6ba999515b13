package es

import (
	"context"
	"math"
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"
)

// cached is what the repository knows about an aggregate without reading the store.
type cached[S any] struct {
	State[S]
	snapshotVersion uint64 // version of the latest known snapshot
	bytes           uint64 // of the state, in memory
}

// stateCache holds the states of recently used aggregates, limited by their size in memory.
type stateCache[S any] struct {
	size    func(S) int
	limit   uint64
	metrics typeMetrics

	mutex  sync.Mutex
	states *simplelru.LRU[AggregateID, cached[S]]
	bytes  uint64
}

func newStateCache[S any](limit uint64, size func(S) int, metrics typeMetrics) *stateCache[S] {
	c := &stateCache[S]{size: size, limit: limit, metrics: metrics}
	// It fails only for a size that is not positive.
	c.states, _ = simplelru.NewLRU(math.MaxInt, func(_ AggregateID, gone cached[S]) { c.bytes -= gone.bytes })
	return c
}

func (c *stateCache[S]) get(key AggregateID) (cached[S], bool) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return c.states.Get(key)
}

func (c *stateCache[S]) forget(key AggregateID) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.states.Remove(key)
}

// remember stores the state if it is newer than the cached one, and returns the newer one.
func (c *stateCache[S]) remember(key AggregateID, state State[S], snapshotVersion uint64) cached[S] {
	kept := cached[S]{state, snapshotVersion, uint64(c.size(state.Value))}
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if old, found := c.states.Peek(key); found {
		if old.Version > state.Version {
			kept.State, kept.bytes = old.State, old.bytes
		}
		kept.snapshotVersion = max(old.snapshotVersion, snapshotVersion)
		c.bytes -= old.bytes
	}
	c.states.Add(key, kept)
	for c.bytes += kept.bytes; c.bytes > c.limit; {
		c.states.RemoveOldest()
	}
	c.metrics.states.Set(float64(c.states.Len()))
	c.metrics.bytes.Set(float64(c.bytes))
	return kept
}

const (
	snapshotTimeout = 30 * time.Second
	maxDue          = 1000 // aggregates that wait for a snapshot
	// bytesPerEvent is how much of a state, as [SnapshotCodec.Size] estimates it, is written to a snapshot for each
	// event at most: a small part of what commands cost.
	bytesPerEvent = 1000
)

// SnapshotDistance returns the number of events between two snapshots of a state. It doubles as the state grows.
func (r *Repository[S, E]) SnapshotDistance(state S) uint64 {
	distance := r.settings.SnapshotEvery
	for wanted := uint64(r.snapshots.Size(state)) / bytesPerEvent; distance < wanted; {
		distance *= 2
	}
	return distance
}

func (r *Repository[S, E]) isDue(known cached[S]) bool {
	return known.Version >= known.snapshotVersion+r.SnapshotDistance(known.Value)
}

// saved remembers a state that was saved, and has its snapshot written in the background if it is due. One that is not
// written is due again after the aggregate's next event.
func (r *Repository[S, E]) saved(ctx context.Context, key AggregateID, before uint64, after State[S]) {
	presumed := uint64(0)
	if _, found := r.states.get(key); !found {
		// Of an aggregate that has left the cache, the latest snapshot is presumed where one was due last.
		distance := r.SnapshotDistance(after.Value)
		presumed = before / distance * distance
	}
	known := r.states.remember(key, after, presumed)
	if !r.isDue(known) {
		return
	}
	r.mutex.Lock()
	defer r.mutex.Unlock()
	waiting, waits := r.due[key]
	if !waits && len(r.due) > 0 && (len(r.due) >= maxDue || r.dueBytes+known.bytes > r.states.limit) {
		return
	}
	r.dueBytes += known.bytes - waiting.bytes
	r.due[key] = known
	if !waits {
		ctx = context.WithoutCancel(ctx) // with the command's log attributes
		r.writing.Go(func() { r.writeDue(ctx, key) })
	}
}

// writeDue waits for its turn, and writes the aggregate's snapshot if one is still due then.
func (r *Repository[S, E]) writeDue(ctx context.Context, key AggregateID) {
	select {
	case r.slot <- struct{}{}:
	case <-r.ended.Done():
		return
	}
	defer func() { <-r.slot }()
	r.mutex.Lock()
	known := r.due[key]
	r.dueBytes -= known.bytes
	delete(r.due, key)
	r.mutex.Unlock()
	if latest, found := r.states.get(key); found {
		known = latest
	}
	if !r.isDue(known) {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, snapshotTimeout)
	defer cancel()
	defer context.AfterFunc(r.ended, cancel)()
	if err := r.SaveSnapshot(ctx, key, known.State); err != nil {
		r.metrics.failed.Inc()
		r.settings.Logger.WarnContext(ctx, "could not write a snapshot; the aggregate's next event will retry",
			"tenant", key.Tenant, "aggregate", key.String(), "version", known.Version, "error", err)
	}
}

// SaveSnapshot writes a snapshot at once.
func (r *Repository[S, E]) SaveSnapshot(ctx context.Context, key AggregateID, state State[S]) (err error) {
	defer func() {
		if reason := recover(); reason != nil { // in the background, a codec must not crash the program
			err = panicked("writing a snapshot", reason)
		}
	}()
	payload, err := r.snapshots.Encode(key.ID, state.Version, state.Value)
	if err != nil {
		return err
	}
	if err := r.gateway.SaveSnapshot(ctx, key, Snapshot{Version: state.Version, Payload: payload}); err != nil {
		return err
	}
	r.metrics.written.Inc()
	r.metrics.writtenBytes.Add(float64(len(payload)))
	r.states.remember(key, state, state.Version)
	return nil
}

// Close writes the pending snapshots, or drops them when ctx ends, which only costs time at the next load.
func (r *Repository[S, E]) Close(ctx context.Context) error {
	defer context.AfterFunc(ctx, r.giveUp)()
	r.writing.Wait()
	if r.ended.Err() != nil {
		return ctx.Err()
	}
	return nil
}
