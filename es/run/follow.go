package run

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"example.com/threads/es/projection"
	"example.com/threads/es/rowstore"
	"example.com/threads/es/sqlstore"
)

// Source follows an event store and hands its events to a projector.
type Source interface {
	// Run follows the store until ctx ends and the batches in progress are stored. Call it once.
	Run(ctx context.Context)
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

// besidePollMin: a projection beside the read model polls less often, because no user waits for it, and so needs fewer
// transactions. On SQLite, each of these also empties the page caches of the other connections.
const besidePollMin = 250 * time.Millisecond

// Follow returns a projection with a source of its own, so that it does not delay the read model. rows is what it
// writes to; positions, of [Turn.Store], holds its positions under its name. Its metrics are in registry.
func (t *Turn) Follow(
	name string, rows projection.Store, positions *rowstore.Store, registry prometheus.Registerer, options projection.Options,
	handlers ...projection.Handler,
) (*Followed, error) {
	measured := newOutcomes(registry)
	options.Observe, options.Tracer, options.Ignore = measured.count, t.updater.tracer(name), append(options.Ignore, t.updater.options.Ignore...)
	options.Tenants = t.updater.options.ReadModel.Tenants
	projector := projection.New(rows, t.databases.Journal, options, handlers...)
	source, err := t.databases.Source(projector, positions, besidePollMin)
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

// Lag returns the lag of the source or, while a repair is due, at least the time since then.
func (f *Followed) Lag(ctx context.Context) projection.Lag {
	lag := f.source.Lag(ctx)
	if since := f.projector.RepairSince(); !since.IsZero() {
		lag.Behind, lag.AtLeast = max(lag.Behind, time.Since(since)), true
	}
	return lag
}

// Follow keeps the rows of a projection in the file of its event store until ctx ends, and rebuilds them when a handler
// has another version than the one that made them. It runs an [Updater] with default options.
func Follow(ctx context.Context, file *sqlstore.Gateway, name string, tables []string, handlers ...projection.Handler) error {
	log := slog.Default()
	open := func(context.Context) (Databases, error) {
		return Databases{
			Journal: file, Rows: file.DB, Trouble: file.Check, Close: func() {},
			Source: func(to projection.Sink, checkpoints projection.Checkpoints, pollMin time.Duration) (Source, error) {
				return file.NewSource(to, checkpoints, log, sqlstore.SourceSettings{PollMin: pollMin, Gather: pollMin}), nil
			},
		}, nil
	}
	return New(Options{
		ReadModel: ReadModel{Name: name, Tables: tables, Handlers: handlers}, Open: open, RebuildAuto: true, Log: log,
	}, prometheus.NewRegistry()).Run(ctx)
}

// outcomeCounters are the totals of what became of records, in the order of [outcomes.count].
var outcomeCounters = []prometheus.CounterOpts{
	{Name: "projection_events_applied_total", Help: "Events from the source that were projected."},
	{Name: "projection_events_filled_total", Help: "Events from the journal that filled a gap and were projected."},
	{Name: "projection_duplicates_total", Help: "Records whose events were already projected."},
	{Name: "projection_records_held_total", Help: "Records that wait in the journal because their aggregate is parked."},
	{Name: "projection_records_unreadable_total", Help: "Records that can't be read as an event of their type."},
	{Name: "projection_records_unregistered_total", Help: "Records of aggregate types that this program does not know."},
	{Name: "projection_parkings_total", Help: "Times that an aggregate was parked, repeated parkings of the same one included."},
	{Name: "projection_releases_total", Help: "Times that a parked aggregate was released."},
	{Name: "projection_repairs_total", Help: "Comparisons of all aggregates with the journal that were completed."},
}

// outcomes measures the results of projecting so far.
type outcomes struct {
	totals           []prometheus.Counter // in the order of outcomeCounters
	durations, sizes prometheus.Histogram
}

func newOutcomes(registry prometheus.Registerer) *outcomes {
	register := promauto.With(registry)
	o := &outcomes{
		durations: register.NewHistogram(prometheus.HistogramOpts{
			Name: "projection_batch_duration_seconds", Help: "Time until a batch of records was stored or failed.",
			Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10},
		}),
		sizes: register.NewHistogram(prometheus.HistogramOpts{
			Name: "projection_batch_records", Help: "Records in a batch.", Buckets: prometheus.ExponentialBuckets(1, 4, 7),
		}),
	}
	for _, c := range outcomeCounters {
		o.totals = append(o.totals, register.NewCounter(c))
	}
	return o
}

func (o *outcomes) count(found projection.Outcome, records int, took time.Duration) {
	if records > 0 {
		o.durations.Observe(took.Seconds())
		o.sizes.Observe(float64(records))
	}
	for i, n := range []int{
		found.Applied, found.Filled, found.Duplicates, found.Held, found.Unreadable,
		found.Unregistered, found.Parked, found.Released, found.Repairs,
	} {
		o.totals[i].Add(float64(n))
	}
}
