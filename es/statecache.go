package es

import (
	"fmt"
	"math"
	"sync"

	"github.com/hashicorp/golang-lru/v2/simplelru"
)

// cached is what the repository knows about an aggregate without reading the store.
type cached[S any] struct {
	state           State[S]
	snapshotVersion uint64 // version of the latest known snapshot
}

// sized is a cached state with its size in memory.
type sized[S any] struct {
	cached[S]
	bytes uint64
}

// stateCache holds the states of recently used aggregates, limited by their size in memory.
type stateCache[S any] struct {
	size    func(S) int
	limit   uint64
	metrics typeMetrics

	mutex  sync.Mutex
	states *simplelru.LRU[AggregateID, sized[S]]
	bytes  uint64
}

func newStateCache[S any](limit uint64, size func(S) int, metrics typeMetrics) *stateCache[S] {
	c := &stateCache[S]{size: size, limit: limit, metrics: metrics}
	var err error
	c.states, err = simplelru.NewLRU(math.MaxInt, func(_ AggregateID, gone sized[S]) { c.bytes -= gone.bytes })
	if err != nil {
		panic(fmt.Sprintf("repository: %v", err)) // the size is a constant
	}
	return c
}

func (c *stateCache[S]) get(key AggregateID) (cached[S], bool) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	found, is := c.states.Get(key)
	return found.cached, is
}

func (c *stateCache[S]) forget(key AggregateID) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.states.Remove(key)
	c.measure()
}

// remember stores the state if it is newer than the cached one, and returns the newer one.
func (c *stateCache[S]) remember(key AggregateID, state State[S], snapshotVersion uint64) cached[S] {
	kept := sized[S]{cached[S]{state, snapshotVersion}, uint64(c.size(state.Value))}
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if old, found := c.states.Peek(key); found {
		if old.state.Version > state.Version {
			kept.state, kept.bytes = old.state, old.bytes
		}
		kept.snapshotVersion = max(old.snapshotVersion, snapshotVersion)
		c.bytes -= old.bytes
	}
	c.states.Add(key, kept)
	for c.bytes += kept.bytes; c.bytes > c.limit; {
		c.states.RemoveOldest()
	}
	c.measure()
	return kept.cached
}

func (c *stateCache[S]) measure() {
	c.metrics.states.Set(float64(c.states.Len()))
	c.metrics.bytes.Set(float64(c.bytes))
}

func (c *stateCache[S]) usage() (states int, bytes uint64) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return c.states.Len(), c.bytes
}
