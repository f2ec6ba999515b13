package repository

import (
	"math"

	"github.com/maypok86/otter/v2"

	"example.com/threads/usecase"
	"example.com/threads/usecase/command"
)

// cached is what the repository knows about an aggregate without reading the store.
type cached[S any] struct {
	state           command.State[S]
	snapshotVersion uint64 // version of the latest known snapshot
}

// stateCache holds the states of recently used aggregates, limited by their size in memory.
type stateCache[S any] struct {
	states *otter.Cache[usecase.Key, cached[S]]
}

func newStateCache[S any](bytes uint64, size func(S) int) *stateCache[S] {
	return &stateCache[S]{otter.Must(&otter.Options[usecase.Key, cached[S]]{
		MaximumWeight: bytes,
		Weigher: func(_ usecase.Key, r cached[S]) uint32 {
			return uint32(min(size(r.state.Value), math.MaxUint32))
		},
	})}
}

func (c *stateCache[S]) get(key usecase.Key) (cached[S], bool) { return c.states.GetIfPresent(key) }

func (c *stateCache[S]) forget(key usecase.Key) { c.states.Invalidate(key) }

// remember stores the state if it is newer than the cached one, and returns the newer one.
func (c *stateCache[S]) remember(key usecase.Key, state command.State[S], snapshotVersion uint64) cached[S] {
	kept := cached[S]{state, snapshotVersion}
	c.states.Compute(key, func(old cached[S], found bool) (cached[S], otter.ComputeOp) {
		if found {
			kept.snapshotVersion = max(old.snapshotVersion, snapshotVersion)
			if old.state.Version > state.Version {
				kept.state = old.state
			}
		}
		return kept, otter.WriteOp
	})
	return kept
}
