package repository

import (
	"context"
	"log/slog"

	"example.com/threads/interfaceadaptor/eventcodec"
	"example.com/threads/interfaceadaptor/eventstore"
	"example.com/threads/usecase"
	"example.com/threads/usecase/command"
)

// Repository keeps the aggregates of one type, with states S and events E, in an event store; it fills usecase/command's
// port. It remembers the states of recently used aggregates. A remembered state may be stale, but is always a prefix of
// the aggregate's history: the events that followed bring it up to date.
type Repository[S, E any] struct {
	gateway     eventstore.EventPersistenceGateway
	codec       *eventcodec.Codec[E]
	snapshots   SnapshotCodec[S]
	apply       func(S, E) S
	states      *stateCache[S]
	snapshotter *snapshotter[S]
}

// SnapshotCodec is the form of states in snapshots. It may be used concurrently.
type SnapshotCodec[S any] interface {
	// Encode writes the state of the aggregate with the id.
	Encode(id string, version uint64, state S) ([]byte, error)
	// Decode reads it back. What it can't read, a newer format included, is an error: the events will do.
	Decode(payload []byte) (id string, version uint64, state S, err error)
	// Size is about how many bytes a state takes in memory.
	Size(state S) int
}

// Settings are what a Repository can be told. The zero value of a field stands for its default.
type Settings struct {
	// SnapshotEvery is the number of events after which an aggregate gets another snapshot. Default: 100.
	SnapshotEvery uint64
	// CacheBytes bounds the states that are remembered, by the memory that they take. Default: 64 MiB.
	CacheBytes uint64
	// Logger is told of snapshots that can't be written or read. Default: slog.Default().
	Logger *slog.Logger
}

func (s Settings) withDefaults() Settings {
	if s.SnapshotEvery == 0 {
		s.SnapshotEvery = 100
	}
	if s.CacheBytes == 0 {
		s.CacheBytes = 64 << 20
	}
	if s.Logger == nil {
		s.Logger = slog.Default()
	}
	return s
}

// New returns a repository over gateway of aggregates whose events and snapshots have these forms. apply is the state after
// an event. [Repository.Close] ends it.
func New[S, E any](gateway eventstore.EventPersistenceGateway, codec *eventcodec.Codec[E], snapshots SnapshotCodec[S], apply func(S, E) S, settings Settings) *Repository[S, E] {
	settings = settings.withDefaults()
	states := newStateCache(settings.CacheBytes, snapshots.Size)
	return &Repository[S, E]{
		gateway:     gateway,
		codec:       codec,
		snapshots:   snapshots,
		apply:       apply,
		states:      states,
		snapshotter: newSnapshotter(gateway, snapshots, states, settings),
	}
}

// Close writes the snapshots that are due and ends the repository; with ctx's end those that are left are given up,
// which costs time at the next load and nothing else.
func (r *Repository[S, E]) Close(ctx context.Context) error { return r.snapshotter.close(ctx) }

// SaveSnapshot writes a snapshot now.
func (r *Repository[S, E]) SaveSnapshot(ctx context.Context, key usecase.Key, state command.State[S]) error {
	return r.snapshotter.write(ctx, key, state)
}
