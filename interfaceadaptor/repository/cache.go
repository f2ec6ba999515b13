package repository

import (
	"math"

	"github.com/maypok86/otter/v2"

	"example.com/threads/usecase"
	"example.com/threads/usecase/command"
)

// remembered is what the repository knows about an aggregate without asking the store.
type remembered[S any] struct {
	state           command.State[S]
	snapshotVersion uint64 // of the latest snapshot that is known of
}

// stateCache remembers the states of the aggregates that were used last, as many as its size allows.
type stateCache[S any] struct {
	states *otter.Cache[usecase.Key, remembered[S]]
}

func newStateCache[S any](bytes uint64, size func(S) int) *stateCache[S] {
	return &stateCache[S]{otter.Must(&otter.Options[usecase.Key, remembered[S]]{
		MaximumWeight: bytes,
		Weigher: func(_ usecase.Key, r remembered[S]) uint32 {
			return uint32(min(size(r.state.Value), math.MaxUint32))
		},
	})}
}

func (c *stateCache[S]) get(key usecase.Key) (remembered[S], bool) { return c.states.GetIfPresent(key) }

func (c *stateCache[S]) forget(key usecase.Key) { c.states.Invalidate(key) }

// remember keeps the later of what is remembered and what is told, and returns it.
func (c *stateCache[S]) remember(key usecase.Key, state command.State[S], snapshotVersion uint64) remembered[S] {
	kept := remembered[S]{state, snapshotVersion}
	c.states.Compute(key, func(old remembered[S], found bool) (remembered[S], otter.ComputeOp) {
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
