// Package run is the runtime of an updater: the program that keeps a read model. It waits for its turn to write,
// follows the event store, projects, rebuilds and verifies the rows, runs further consumers of the events beside it,
// and tells its state and its metrics.
//
// An application describes its rows and databases in [Options], makes an [Updater] of them with [New], and calls Run
// once; Look then tells the state, for a health check. A process manager is a [Process], which [Turn].Process makes a
// [Consumer] of. A program on SQLite with nothing beside its rows calls [Follow] instead.
package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync/atomic"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/trace"

	"example.com/threads/es"
	"example.com/threads/es/internal/polling"
	"example.com/threads/es/projection"
	"example.com/threads/es/rowstore"
)

const turnAgain = 500 * time.Millisecond // after an error

// Options are what an application hands to its updater.
type Options struct {
	ReadModel ReadModel
	// Open opens the databases. It is called again until it succeeds.
	Open func(context.Context) (Databases, error)
	// Ignore lists aggregate types that the program does not know and leaves out.
	Ignore []string
	// VerifyRate is how many aggregates per second are continuously compared with the journal; 0: none.
	VerifyRate int
	// RebuildAuto: rebuild rows automatically when needed.
	RebuildAuto bool
	// Advice tells operators what to do.
	Advice Advice
	// Notify is called with every change of the read model after its commit. It must not block. Default: nothing.
	Notify func([]projection.AtVersion)
	// Faults inject faults between the projection and its ports.
	Faults Faults
	// Tracer creates the projections' tracers. Default: no traces.
	Tracer trace.TracerProvider
	Log    *slog.Logger // default: slog.Default()
}

// ReadModel is the projection that an [Updater] keeps, verifies and rebuilds.
type ReadModel struct {
	Name     string   // of the projection
	Tables   []string // that the handlers keep rows in
	Handlers []projection.Handler
	Tenants  func(es.Tenant) bool // see [projection.Options]
}

// Types returns the aggregate types of the handlers. Those that a process manager has no handler for do not concern it.
func (m ReadModel) Types() []string {
	types := make([]string, len(m.Handlers))
	for i, handler := range m.Handlers {
		types[i] = handler.Type()
	}
	return types
}

// Databases are what an [Updater] reads from and writes to.
type Databases struct {
	Journal es.Journal
	// Source returns a source of the journal's changes that polls every pollMin at most.
	Source func(projector projection.Sink, checkpoints projection.Checkpoints, pollMin time.Duration) (Source, error)
	// Trouble, which is required, returns why the event store can't be used. It must cost nothing while all is well.
	Trouble func(context.Context) error
	Rows    *sqlx.DB
	Metrics []prometheus.Collector
	// Consumers are made for each turn.
	Consumers []func(*Turn) (Consumer, error)
	Close     func() // required

	store *rowstore.Store // of the read model
}

// Advice names the commands and settings of a program in what operators read.
type Advice struct {
	Parked  string // how to list the dead letters
	Drifted string // how to list and repair the rows that differ from the journal
	Rebuild string // how to rebuild
	Resume  string // how to continue or end an interrupted rebuild
	Ignore  string // how to leave out an aggregate type, whose name follows
}

// Faults are what tests, and demonstrations, do to a projection. Each is optional.
type Faults struct {
	// Turn waits until the projection may work. The returned context ends with ctx, or when the projection is killed.
	Turn func(ctx context.Context) (context.Context, error)
	// Projector wraps the projector that receives the source's records.
	Projector func(projector projection.Sink) projection.Sink
	// Journal wraps the journal that the projector reads.
	Journal func(journal es.Journal) es.Journal
	// Rebuild wraps the journal that rebuilds read.
	Rebuild func(journal es.Journal) es.Journal
}

// Updater keeps a read model up to date. It is a [prometheus.Collector] of its state.
type Updater struct {
	options  Options
	registry prometheus.Registerer
	outcomes *outcomes
	since    time.Time                 // start of the program
	parked   atomic.Int64              // aggregates, as last known
	opened   atomic.Pointer[Databases] // set once they are open, and while the updater stands by, too
	turn     atomic.Pointer[Turn]      // nil while another process has the turn
}

// New returns an updater whose metrics are in registry. It works while [Updater.Run] runs.
func New(options Options, registry prometheus.Registerer) *Updater {
	options.Log = cmp.Or(options.Log, slog.Default())
	if options.Notify == nil {
		options.Notify = func([]projection.AtVersion) {}
	}
	u := &Updater{options: options, registry: registry, outcomes: newOutcomes(registry), since: time.Now()}
	registry.MustRegister(u)
	return u
}

// Errors of an [Updater]'s methods for operators.
var (
	errNotOpen    = errors.New("the database has not been reached yet")
	ErrStandingBy = errors.New("this program does not write the read model now")
)

// Opened returns the databases and the store of the read model's positions, to read from, or an error.
func (u *Updater) Opened() (Databases, *rowstore.Store, error) {
	if opened := u.opened.Load(); opened != nil {
		return *opened, opened.store, nil
	}
	return Databases{}, nil, errNotOpen
}

// Projector returns the projector of the current turn, or [ErrStandingBy].
func (u *Updater) Projector() (*projection.Projector, error) {
	if turn := u.turn.Load(); turn != nil {
		return turn.model.projector, nil
	}
	return nil, ErrStandingBy
}

// Rebuild requests a rebuild, which starts within a second or two. Its error is [ErrStandingBy].
func (u *Updater) Rebuild() error {
	turn := u.turn.Load()
	if turn == nil {
		return ErrStandingBy
	}
	turn.keeper.asked.Store(true)
	return nil
}

// Lag returns the lag of the read model; false: this process does not write it.
func (u *Updater) Lag(ctx context.Context) (projection.Lag, bool) {
	turn := u.turn.Load()
	if turn == nil {
		return projection.Lag{}, false
	}
	return turn.model.Lag(ctx), true
}

// Run projects whenever this process has the turn, until ctx ends and the current batches are stored.
func (u *Updater) Run(ctx context.Context) error {
	var databases Databases
	report := func(err error) {
		u.options.Log.WarnContext(ctx, "waiting for the databases of events and read model", "error", err)
	}
	err := polling.Retry(ctx, report, func(ctx context.Context) (err error) {
		databases, err = u.options.Open(ctx)
		return err
	})
	if err != nil {
		return nil // stopped before there was anything to do
	}
	defer databases.Close()
	if databases.store, err = rowstore.New(databases.Rows, u.options.ReadModel.Name); err != nil {
		return err
	}
	u.opened.Store(&databases)
	host, _ := os.Hostname() // for people only
	holder := fmt.Sprintf("%s, process %d", host, os.Getpid())
	for ctx.Err() == nil {
		turn, err := databases.store.AwaitTurn(ctx, holder)
		if err != nil {
			if ctx.Err() == nil {
				u.options.Log.WarnContext(ctx, "waiting for the turn to write the read model", "error", err)
				polling.Pause(ctx, turnAgain)
			}
			continue
		}
		u.options.Log.InfoContext(ctx, "writing the read model", "term", turn.Term)
		err = u.work(turn.Held, databases, turn.Term)
		turn.GiveUp()
		if err != nil {
			return err
		}
		if ctx.Err() == nil {
			u.options.Log.WarnContext(ctx, "standing by: the turn to write the read model is over", "term", turn.Term, "reason", context.Cause(turn.Held))
		}
	}
	return nil
}

// tracer returns the tracer of a projection; nil: no traces.
func (u *Updater) tracer(name string) trace.Tracer {
	if u.options.Tracer == nil {
		return nil
	}
	return u.options.Tracer.Tracer("projection/" + name)
}
