package repository

import (
	"math"

	"github.com/maypok86/otter/v2"

	"example.com/threads/domain/thread"
	"example.com/threads/usecase"
)

// remembered is what the repository knows about a thread without asking the store.
type remembered struct {
	state           thread.Thread
	snapshotVersion uint64 // of the latest snapshot that is known of
}

// stateCache remembers the states of the threads that were used last, as many as its size allows.
type stateCache struct {
	states *otter.Cache[usecase.Key, remembered]
}

func newStateCache(size uint64) *stateCache {
	return &stateCache{otter.Must(&otter.Options[usecase.Key, remembered]{
		MaximumWeight: size,
		Weigher: func(_ usecase.Key, r remembered) uint32 {
			return uint32(min(r.state.Size()+1, math.MaxUint32))
		},
	})}
}

func (c *stateCache) get(key usecase.Key) (remembered, bool) { return c.states.GetIfPresent(key) }

func (c *stateCache) forget(key usecase.Key) { c.states.Invalidate(key) }

// remember keeps the later of what is remembered and what is told, and returns it.
func (c *stateCache) remember(key usecase.Key, state thread.Thread, snapshotVersion uint64) remembered {
	kept := remembered{state, snapshotVersion}
	c.states.Compute(key, func(old remembered, found bool) (remembered, otter.ComputeOp) {
		if found {
			kept.snapshotVersion = max(old.snapshotVersion, snapshotVersion)
			if old.state.Version() > state.Version() {
				kept.state = old.state
			}
		}
		return kept, otter.WriteOp
	})
	return kept
}
