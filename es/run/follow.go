package run

import (
	"context"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"example.com/threads/es/projection"
	"example.com/threads/es/rowstore"
)

// Source follows an event store and hands its events to a projector.
type Source interface {
	// Run follows the store until ctx ends and the batches in progress are stored. Call it once.
	Run(ctx context.Context)
	// Wake makes the source poll at once, if it supports that. It never blocks.
	Wake()
	// Lag returns how far the projection is behind.
	Lag(ctx context.Context) projection.Lag
	// Health returns an error if something makes no progress.
	Health() error
	// Measure registers the running totals.
	Measure(registry prometheus.Registerer)
}

// Followed is a projection with the source that it follows.
type Followed struct {
	store     *rowstore.Store
	projector *projection.Projector
	source    Source
}

// besidePollMin: a projection beside the read model polls less often, because no user waits for it. Each poll then
// returns more events for each of its transactions. On SQLite, each of these also empties the page caches of the other
// connections.
const besidePollMin = 250 * time.Millisecond

// Follow returns a projection with a source of its own, so that it does not delay the read model. rows is what it
// writes to; positions, of [Turn.Store], holds its positions under its name. Its metrics are in registry.
func (t *Turn) Follow(
	name string, rows projection.Store, positions *rowstore.Store, registry prometheus.Registerer, options projection.Options,
	handlers ...projection.Handler,
) (*Followed, error) {
	measured := newOutcomes(registry)
	options.Observe, options.Tracer, options.Ignore = measured.count, t.updater.tracer(name), append(options.Ignore, t.updater.options.Ignore...)
	projector := projection.New(rows, projection.NewJournalReader(t.databases.Journal), options, handlers...)
	source, err := t.databases.Source(timed{projector, measured}, positions, besidePollMin)
	if err != nil {
		return nil, err
	}
	source.Measure(registry)
	return &Followed{positions, projector, source}, nil
}

// Run projects until ctx ends and the current batches are stored.
func (f *Followed) Run(ctx context.Context) {
	var working sync.WaitGroup
	working.Go(func() { f.projector.Run(ctx) })
	f.source.Run(ctx)
	working.Wait()
}

// Wake makes the source poll at once. It never blocks.
func (f *Followed) Wake() { f.source.Wake() }

// Lag returns the lag of the source or, while a repair is due, at least the time since then.
func (f *Followed) Lag(ctx context.Context) projection.Lag {
	lag := f.source.Lag(ctx)
	if since := f.projector.RepairSince(); !since.IsZero() {
		lag.Behind, lag.AtLeast = max(lag.Behind, time.Since(since)), true
	}
	return lag
}
