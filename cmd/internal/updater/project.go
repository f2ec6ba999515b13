package updater

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"example.com/threads/cmd/internal/eventstore"
	"example.com/threads/es/projection"
	"example.com/threads/es/rowstore"
	"example.com/threads/es/stream"
	"example.com/threads/interfaceadaptor/readmodel/chatrows"
)

// journalFollower projects events into the read model. It starts when its databases can be opened.
type journalFollower struct {
	settings Settings
	ports    Ports
	registry prometheus.Registerer
	outcomes *outcomes
	shared   atomic.Pointer[turnsState] // nil until the databases are open
	parts    atomic.Pointer[turnParts]  // nil while another process has the turn
}

// turnParts are what a turn runs.
type turnParts struct {
	followed
	caughtUp  atomic.Bool // at least once since the tables were created
	process   *running
	published *publication // nil: publishing is off
	keeper    *rowKeeper
	journal   func(context.Context) error // why the event store can't be used
}

// run projects until ctx ends and the current batches are stored.
func (f *journalFollower) run(ctx context.Context) error {
	databases, err := f.open(ctx)
	if err != nil {
		return nil // stopped before there was anything to do
	}
	defer databases.Close()
	return f.takeTurns(ctx, databases)
}

// work is a turn: it ends with ctx, once the current batches are stored, or when the turn is lost.
func (f *journalFollower) work(ctx context.Context, databases Databases, turn *rowstore.Turn) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	defer context.AfterFunc(turn.Lost, func() { stop(context.Cause(turn.Lost)) })()
	ctx, err := f.ports.Faults.Turn(ctx)
	if err != nil {
		return nil // the turn is lost already
	}
	store := f.shared.Load().store.InTerm(turn.Term)
	registry := prometheus.NewRegistry() // counters start at 0 in each turn
	worker := f.newTaskWorker(databases)
	journal := stream.NewJournalReader(databases.Store.Gateway)
	projector := projection.New(store, f.ports.Faults.Journal(journal), projection.Options{
		Remaining: journal.Remaining, Logger: f.ports.Log, Notify: worker.notified(f.ports.Notify), Observe: f.outcomes.count, Ignore: f.settings.Ignore,
		Tracer: f.ports.tracer(chatrows.Projection),
	}, chatrows.Handlers()...)
	source, err := databases.Store.Source(f.ports.Faults.Projector(timed{projector, f.outcomes}), store, f.settings.Source)
	if err != nil {
		return err
	}
	source.Measure(registry)
	promauto.With(registry).NewCounterFunc(prometheus.CounterOpts{
		Name: "projection_verifications_total", Help: "Comparisons of an aggregate's rows with the journal (VERIFY_RATE).",
	}, func() float64 { return float64(projector.Drift().Checked) })
	process, err := f.newLeaveOnClose(databases, turn.Term, registry)
	if err != nil {
		return err
	}
	keeper, err := f.newKeeper(databases, turn.Term, store, projector)
	if err != nil {
		return err
	}
	registry.MustRegister(databases.Store.Metrics...)
	registry.MustRegister(collectors.NewDBStatsCollector(databases.ReadModel.DB, "read_model"))
	published, err := f.newPublication(databases, turn.Term, registry)
	if err != nil {
		return err
	}
	// Once it is complete: a registry that has changed since is not found again to unregister it.
	if err := f.registry.Register(registry); err != nil {
		return err
	}
	defer f.registry.Unregister(registry)
	parts := &turnParts{followed: followed{store, projector, source}, process: process, published: published, keeper: keeper, journal: databases.Store.Trouble}
	f.parts.Store(parts)
	defer f.parts.Store(nil)

	// A program with other handlers takes rows without a version as its own, so store the versions before there are
	// rows.
	keeper.storeVersions(ctx)
	var background sync.WaitGroup
	background.Go(func() { f.report(ctx, parts) })
	background.Go(func() { keeper.run(ctx) })
	background.Go(func() { worker.run(ctx) })
	background.Go(func() {
		if err := process.run(ctx); err != nil {
			f.ports.Log.WarnContext(ctx, "snapshots that were due have been given up; the next events of their aggregates make up for it", "error", err)
		}
	})
	if published != nil {
		background.Go(func() {
			if err := published.run(ctx); err != nil {
				f.ports.Log.WarnContext(ctx, "the connection to the broker could not be closed cleanly", "error", err)
			}
		})
	}
	if rate := f.settings.VerifyRate; rate > 0 {
		background.Go(func() { projector.Watch(ctx, rate) })
	}
	parts.run(ctx)
	background.Wait()
	return nil
}

// open waits for the databases and their schemas. It fails only when ctx ends.
func (f *journalFollower) open(ctx context.Context) (databases Databases, err error) {
	report := func(err error) {
		f.ports.Log.WarnContext(ctx, "waiting for the databases of events and read model", "error", err)
	}
	err = stream.Retry(ctx, report, func(ctx context.Context) (err error) {
		databases, err = f.ports.Open(ctx)
		return err
	})
	return databases, err
}

// followed is a projection with the source that it follows.
type followed struct {
	store     *rowstore.Store
	projector *projection.Projector
	source    eventstore.Source
}

// A projection beside the read model polls less often, because no user waits for it. Each poll then returns more events
// for each of its transactions. On SQLite, each of these also empties the page caches of the other connections.
const (
	besidePollMin = 250 * time.Millisecond
	besidePollMax = 500 * time.Millisecond
)

// beside returns a projection with a source of its own, so that it does not delay the read model. rows is what it
// writes to; positions holds its positions.
func (f *journalFollower) beside(
	databases Databases, name string, rows projection.Store, positions *rowstore.Store, registry prometheus.Registerer,
	options projection.Options, handlers ...projection.Handler,
) (followed, error) {
	measured := newOutcomes(registry)
	options.Observe, options.Tracer, options.Ignore = measured.count, f.ports.tracer(name), append(options.Ignore, f.settings.Ignore...)
	projector := projection.New(rows, stream.NewJournalReader(databases.Store.Gateway), options, handlers...)
	settings := f.settings.Source
	settings.PollMin = max(settings.PollMin, besidePollMin)
	settings.PollMax = max(settings.PollMax, besidePollMax)
	source, err := databases.Store.Source(timed{projector, measured}, positions, settings)
	if err != nil {
		return followed{}, err
	}
	source.Measure(registry)
	return followed{positions, projector, source}, nil
}

// run projects until ctx ends and the current batches are stored.
func (f followed) run(ctx context.Context) {
	var working sync.WaitGroup
	working.Go(func() { f.projector.Run(ctx) })
	f.source.Run(ctx)
	working.Wait()
}

// lag returns the lag of the source or, while a repair is due, at least the time since then.
func (f followed) lag(ctx context.Context) stream.Lag {
	lag := f.source.Lag(ctx)
	if since := f.projector.RepairSince(); !since.IsZero() {
		lag.Behind, lag.AtLeast = max(lag.Behind, time.Since(since)), true
	}
	return lag
}

const (
	currentWithin = time.Second           // with a lag up to this, the read model has caught up
	firstReport   = 50 * time.Millisecond // after the start; the waits double up to reportEvery
	reportEvery   = time.Second
	reportSeldom  = 10 * time.Second // while nothing changes
)

// report stores the read model's lag, for the programs that read it, until ctx ends.
func (f *journalFollower) report(ctx context.Context, parts *turnParts) {
	var stored rowstore.Report
	for wait := firstReport; stream.Pause(ctx, wait); wait = min(2*wait, reportEvery) {
		lag := parts.lag(ctx)
		now := rowstore.Report{Behind: lag.Behind, BehindRecords: lag.Records, AtLeast: lag.AtLeast, At: time.Now()}
		now.CaughtUp = parts.caughtUp.Load() || !lag.AtLeast && lag.Behind < currentWithin
		same := now.CaughtUp == stored.CaughtUp && now.Behind == stored.Behind && now.AtLeast == stored.AtLeast
		if same && now.At.Sub(stored.At) < reportSeldom {
			continue
		}
		caughtUp, err := parts.store.SaveReport(ctx, now)
		if err != nil {
			if ctx.Err() == nil {
				f.ports.Log.WarnContext(ctx, "storing the lag of the read model failed and will be retried", "error", err)
			}
			continue
		}
		stored = now
		parts.caughtUp.Store(caughtUp)
	}
}
