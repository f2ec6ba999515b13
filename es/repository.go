package es

import (
	"context"
)

// Repository loads and saves the aggregates of one type, with states S and events E. It caches the states of recently
// used aggregates. A cached state may be stale, but it is always a prefix of the aggregate's history; the events after
// it bring it up to date.
type Repository[S, E any] struct {
	gateway     EventPersistenceGateway
	codec       *Codec[E]
	snapshots   SnapshotCodec[S]
	apply       func(S, E) S
	states      *stateCache[S]
	snapshotter *snapshotter[S]
	metrics     typeMetrics
}

// SnapshotCodec encodes states for snapshots. It may be used concurrently.
type SnapshotCodec[S any] interface {
	// Encode encodes the state of the aggregate with the id.
	Encode(id string, version uint64, state S) ([]byte, error)
	// Decode is the inverse of Encode. It fails if it cannot read the payload, for example a newer format, with
	// [ErrOutdated] for an older one; the events are used instead.
	Decode(payload []byte) (id string, version uint64, state S, err error)
	// Size estimates the bytes that a state takes in memory.
	Size(state S) int
}

// NewRepository returns a repository over store. [Repository.Close] ends it.
func NewRepository[S, C, E any](aggregate Aggregate[S, C, E], store EventPersistenceGateway, settings Settings) *Repository[S, E] {
	aggregate, settings = aggregate.withDefaults(), settings.withDefaults()
	snapshots := aggregate.Snapshots
	metrics := settings.Metrics.types(aggregate.Type())
	states := newStateCache(settings.CacheBytes, snapshots.Size, metrics)
	return &Repository[S, E]{
		gateway:     store,
		codec:       aggregate.Events,
		snapshots:   snapshots,
		apply:       aggregate.Apply,
		states:      states,
		snapshotter: newSnapshotter(store, snapshots, states, metrics, settings),
		metrics:     metrics,
	}
}

// Close writes the pending snapshots. When ctx ends first, the remaining ones are dropped, which only costs time at the
// next load.
func (r *Repository[S, E]) Close(ctx context.Context) error { return r.snapshotter.close(ctx) }

// SaveSnapshot writes a snapshot at once.
func (r *Repository[S, E]) SaveSnapshot(ctx context.Context, key AggregateID, state State[S]) error {
	return r.snapshotter.write(ctx, key, state)
}

// Type returns the name of the aggregate type.
func (r *Repository[S, E]) Type() string { return r.codec.Type() }

// Cached returns the number of states in the cache, and an estimate of their size in bytes.
func (r *Repository[S, E]) Cached() (states int, bytes uint64) {
	return r.states.usage()
}
