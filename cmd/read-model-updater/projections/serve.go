// Package projections is the runtime of the library (es/run) with the application's rows and consumers, over HTTP.
package projections

import (
	"context"
	"io"
	"net/http"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/jmoiron/sqlx"
	"golang.org/x/sync/errgroup"

	"example.com/threads/cmd/internal/system"
	"example.com/threads/cmd/write-api/commands" // extra:tasks
	"example.com/threads/es"
	"example.com/threads/es/memlimit" // extra:tasks
	"example.com/threads/es/projection"
	"example.com/threads/es/run"
	"example.com/threads/extras/erasure"    // extra:erasure
	"example.com/threads/extras/operate"    // extra:operate
	"example.com/threads/extras/publishing" // extra:publishing
	"example.com/threads/extras/tasks"      // extra:tasks
	"example.com/threads/extras/tenants"    // extra:tenants
	"example.com/threads/infrastructure/config"
	"example.com/threads/infrastructure/eventstore"
	"example.com/threads/infrastructure/httpserver"
)

// Settings are read from the environment.
type Settings struct {
	Address     string
	Polls       eventstore.Polls     // zero: the source's defaults
	Ignore      []string             // aggregate types
	VerifyRate  int                  // aggregates per second that are compared with the journal; 0: none
	RebuildAuto bool                 // rebuild rows automatically when needed
	Tenants     func(es.Tenant) bool // extra:tenants
	Commands    commands.Settings    // extra:tasks
	Publishing  publishing.Settings  // extra:publishing
}

// ReadSettings reads what every program has. rebuild has the values of REBUILD, the default first.
func ReadSettings(r *config.Reader, rebuild ...string) Settings {
	return Settings{
		Address: r.Address("UPDATER_ADDR", ":28081", "address to listen on, for health and metrics"),
		Ignore:  system.ReadIgnored(r), // extra:operate
		VerifyRate: r.Int("VERIFY_RATE", 1, 0, 1000,
			"aggregates per second whose rows are compared with the journal, all the time, to find drift; each 500 events of a large one "+
				"count as one; with 0 none are"),
		RebuildAuto: r.OneOf("REBUILD", "auto: rows of another version of the program, or ahead of a restored event store, are rebuilt "+
			"automatically; manual: /health/ready reports them", rebuild...) == "auto",
	}
}

// Databases are what the projections read from and write to.
type Databases struct {
	Store     *eventstore.Store
	ReadModel *sqlx.DB
	Keys      *erasure.Keyring // extra:erasure
	Close     func()
}

// Open opens the databases. The updater retries it, and logs that, until it succeeds.
type Open = func(context.Context) (Databases, error)

// Server is the read-model-updater. It holds its listening address for health and metrics.
type Server struct {
	*run.Updater
	*httpserver.Server
	Run func(context.Context) error // projects until ctx ends and the current batches are stored
}

// Listen takes the address. The server works once its Run runs. It adds to base, which may have Notify and Faults.
func Listen(ctx context.Context, s Settings, open Open, base run.Options, parts system.Parts) (*Server, error) {
	server, err := parts.Listen(ctx, "UPDATER_ADDR", s.Address)
	if err != nil {
		return nil, err
	}
	updater := run.New(options(s, open, base, parts), parts.Registry)
	server.Reports = append(server.Reports, func(ctx context.Context, health *httpserver.Health) { report(health, updater.Look(ctx)) })
	mux := chi.NewRouter()
	mux.HandleFunc("GET /", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "read-model-updater: /health/alive, /health/ready, /metrics\n")
	})
	operate.AddTo(ctx, mux, updater, parts.Log) // extra:operate
	handler := server.Handler(mux, parts.Registry, "/health/ready tells how far the projection is, /metrics its figures")
	return &Server{updater, server, func(ctx context.Context) error {
		group, ctx := errgroup.WithContext(ctx)
		group.Go(func() error { return updater.Run(ctx) })
		group.Go(func() error { return server.Serve(ctx, handler) })
		return group.Wait()
	}}, nil
}

func options(s Settings, open Open, all run.Options, parts system.Parts) run.Options {
	all.ReadModel = system.ReadModel()
	all.Open = func(ctx context.Context) (run.Databases, error) {
		d, err := open(ctx)
		if err != nil {
			return run.Databases{}, err
		}
		return run.Databases{
			Journal: d.Store.Gateway, Rows: d.ReadModel, Trouble: d.Store.Trouble, Metrics: d.Store.Metrics,
			Source: func(projector projection.Sink, checkpoints projection.Checkpoints, pollMin time.Duration) (run.Source, error) {
				polls := s.Polls
				polls.Min, polls.Max = max(polls.Min, pollMin), max(polls.Max, 2*pollMin)
				return d.Store.Source(projector, checkpoints, polls)
			},
			Consumers: d.consumers(s, parts), Close: d.Close,
		}, nil
	}
	all.Ignore, all.VerifyRate, all.RebuildAuto = s.Ignore, s.VerifyRate, s.RebuildAuto
	all.Advice = run.Advice{
		Parked: "the log says why", Drifted: "the log names them", Rebuild: "set REBUILD=auto", Resume: "it goes on with REBUILD=auto",
	}
	all.Tracer, all.Log = parts.Tracer, parts.Log
	all.ReadModel.Tenants = s.Tenants // extra:tenants
	operate.Advise(&all.Advice)       // extra:operate
	return all
}

func report(health *httpserver.Health, found run.State) {
	system.ReportLag(health, found.Lag)
	for name, reason := range found.Checks {
		var err error
		if reason != "" {
			err = httpserver.Public(reason)
		}
		health.Check(name, err)
	}
	system.CheckCaughtUp(health, found.CaughtUp, found.Lag)
	health.Warn(found.Warnings...)
	health.Set("active", found.Active)                        // false while another one writes the read model
	health.Set("parked_aggregates", found.ParkedAggregates)   // null while the database does not answer
	health.Set("drifted_aggregates", found.DriftedAggregates) // of those compared with the journal so far
	health.Set("repair_due", found.RepairDue)
	if !found.Rebuild.Over() {
		health.Set("rebuild", found.Rebuild)
	}
}

type consumer = func(*run.Turn) (run.Consumer, error)

// consumers are what follows the events beside the rows.
func (d Databases) consumers(s Settings, parts system.Parts) []consumer {
	all := []consumer{
		d.taskWorker(s, parts), // extra:tasks
	}
	for _, manager := range system.Processes() {
		all = append(all, func(turn *run.Turn) (run.Consumer, error) { return turn.Process(manager(d.Store, parts.Log)) })
	}
	if s.Publishing.On() { // extra:publishing {
		s.Publishing.Around = d.Keys.Broker // extra:erasure
		all = append(all, publishing.Consumer(s.Publishing, system.Types(), parts.Log))
	} // extra:publishing }
	return all
}

// taskWorker executes tasks. // extra:tasks {
func (d Databases) taskWorker(s Settings, parts system.Parts) consumer {
	return func(turn *run.Turn) (run.Consumer, error) {
		settings, log := s.Commands, parts.Log
		if settings.CacheBytes == 0 {
			settings.CacheBytes = memlimit.Limit() / 40 // it handles fewer commands than the write-api
		}
		handling := commands.New(
			d.Store.Gateway,
			d.Keys, // extra:erasure
			settings, es.Settings{SnapshotEvery: d.Store.SnapshotEvery, CheckClock: d.Store.Clock.Check, Logger: log},
		)
		return tasks.Consume(turn, tasks.Ports{
			Unfinished: tasks.Unfinished(d.ReadModel),
			Store:      handling.Tasks,
			Commands:   handling.Operations,
			Timeout:    2 * settings.StoreTimeout,
			Finish:     func(ctx context.Context) { handling.Finish(ctx, log) },
			Log:        log,
			IsActive:   parts.Tenants.Active(tenants.InJournal(d.Store.Gateway, log)), // extra:tenants
		}), nil
	}
} // extra:tasks }
