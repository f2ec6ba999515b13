package run

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"example.com/threads/es/internal/polling"
	"example.com/threads/es/projection"
	"example.com/threads/es/rowstore"
)

// Consumer works beside the read model while this process has the turn.
type Consumer interface {
	// Run works until ctx ends, and finishes what it has begun. It logs failures.
	Run(ctx context.Context)
	// Check returns what operators should know. An error is the reason to be unready.
	Check(ctx context.Context) (Status, error)
}

// Status is what operators see of a [Consumer].
type Status struct {
	Warnings []string
	Gauges   []Gauge // also with an error, as last known
}

// Gauge is a metric of one moment.
type Gauge struct {
	Name, Help string
	Value      float64
	Labels     prometheus.Labels
}

// Turn is the time while this process writes the read model. A [Consumer] is made of it.
type Turn struct {
	Registry *prometheus.Registry // metrics of the turn: counters start at 0 in each
	Advice   Advice               // of the program to its operators

	updater   *Updater
	databases Databases
	term      uint64
	changed   []func([]projection.AtVersion)

	model     *Followed
	caughtUp  atomic.Bool // at least once since the tables were created
	keeper    *rowKeeper
	consumers []Consumer
}

// Store returns the store of another projection's positions. Its writes fail when the turn is over.
func (t *Turn) Store(name string) (*rowstore.Store, error) {
	store, err := rowstore.New(t.databases.Rows, name)
	if err != nil {
		return nil, err
	}
	return store.InTerm(t.term), nil
}

// OnChange adds another [Options].Notify. Call it only while the consumers are made.
func (t *Turn) OnChange(changed func([]projection.AtVersion)) { t.changed = append(t.changed, changed) }

// work is a turn: it ends with ctx, once the current batches are stored, or when the turn is lost.
func (u *Updater) work(ctx context.Context, databases Databases, term uint64) error {
	if wait := u.options.Faults.Turn; wait != nil {
		var err error
		if ctx, err = wait(ctx); err != nil {
			return nil // the turn is lost already
		}
	}
	t, err := u.newTurn(databases, term)
	if err != nil {
		return err
	}
	// A registry is found by its metrics, so these must be complete now, or Unregister would not find it.
	if err := u.registry.Register(t.Registry); err != nil {
		return err
	}
	defer u.registry.Unregister(t.Registry)
	u.turn.Store(t)
	defer u.turn.Store(nil)
	t.run(ctx)
	return nil
}

func (u *Updater) newTurn(databases Databases, term uint64) (*Turn, error) {
	t := &Turn{
		Registry: prometheus.NewRegistry(), Advice: u.options.Advice,
		updater: u, databases: databases, term: term, changed: []func([]projection.AtVersion){u.options.Notify},
	}
	store := databases.store.InTerm(term)
	notify := func(heads []projection.AtVersion) {
		for _, changed := range t.changed {
			changed(heads)
		}
	}
	projector := projection.New(store, wrapped(databases.Journal, u.options.Faults.Journal), projection.Options{
		Logger: u.options.Log, Notify: notify, Observe: u.outcomes.count, Ignore: u.options.Ignore,
		Tracer: u.tracer(u.options.ReadModel.Name), Tenants: u.options.ReadModel.Tenants,
	}, u.options.ReadModel.Handlers...)
	source, err := databases.Source(wrapped(projection.Sink(projector), u.options.Faults.Projector), store, 0)
	if err != nil {
		return nil, err
	}
	source.Measure(t.Registry)
	promauto.With(t.Registry).NewCounterFunc(prometheus.CounterOpts{
		Name: "projection_verifications_total", Help: "Comparisons of an aggregate's rows with the journal, to find drift.",
	}, func() float64 { return float64(projector.Drift().Checked) })
	t.model = &Followed{store, projector, source}
	if t.keeper, err = t.newKeeper(); err != nil {
		return nil, err
	}
	t.Registry.MustRegister(databases.Metrics...)
	t.Registry.MustRegister(collectors.NewDBStatsCollector(databases.Rows.DB, "read_model"))
	for _, newConsumer := range databases.Consumers {
		consumer, err := newConsumer(t)
		if err != nil {
			return nil, err
		}
		t.consumers = append(t.consumers, consumer)
	}
	return t, nil
}

// wrapped returns a port with a fault, if there is one.
func wrapped[P any](port P, fault func(P) P) P {
	if fault == nil {
		return port
	}
	return fault(port)
}

func (t *Turn) run(ctx context.Context) {
	// Store the versions before there are rows: a program with other handlers takes rows without a version as its own.
	_ = polling.Retry(ctx, func(err error) {
		t.updater.options.Log.WarnContext(ctx, "the versions of the rows could not be stored, and the source waits for it; will retry", "error", err)
	}, t.keeper.compareVersions) // fails when ctx ends, which the others see, too
	var background sync.WaitGroup
	background.Go(func() { t.report(ctx) })
	background.Go(func() { t.keeper.run(ctx) })
	for _, consumer := range t.consumers {
		background.Go(func() { consumer.Run(ctx) })
	}
	if rate := t.updater.options.VerifyRate; rate > 0 {
		background.Go(func() { t.model.projector.Watch(ctx, rate) })
	}
	t.model.Run(ctx)
	background.Wait()
}

const (
	currentWithin = time.Second           // with a lag up to this, the read model has caught up
	firstReport   = 50 * time.Millisecond // after the start; the waits double up to reportEvery
	reportEvery   = time.Second
	reportSeldom  = 10 * time.Second // while nothing changes
)

// report stores the read model's lag, for the programs that read it, until ctx ends.
func (t *Turn) report(ctx context.Context) {
	var stored rowstore.Report
	for wait := firstReport; polling.Pause(ctx, wait); wait = min(2*wait, reportEvery) {
		lag := t.model.Lag(ctx)
		now := rowstore.Report{Lag: lag, At: time.Now()}
		now.CaughtUp = t.caughtUp.Load() || !lag.AtLeast && lag.Behind < currentWithin
		if now.CaughtUp == stored.CaughtUp && lag == stored.Lag && now.At.Sub(stored.At) < reportSeldom {
			continue
		}
		caughtUp, err := t.model.store.SaveReport(ctx, now)
		if err != nil {
			if ctx.Err() == nil {
				t.updater.options.Log.WarnContext(ctx, "storing the lag of the read model failed and will be retried", "error", err)
			}
			continue
		}
		stored = now
		t.caughtUp.Store(caughtUp)
	}
}
