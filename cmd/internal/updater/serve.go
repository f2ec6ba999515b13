package updater

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/trace"
	"golang.org/x/sync/errgroup"

	"example.com/threads/cmd/internal/aggregates"
	"example.com/threads/cmd/internal/eventstore"
	"example.com/threads/cmd/internal/readmodel"
	"example.com/threads/cmd/internal/writeapi"
	"example.com/threads/es"
	"example.com/threads/es/projection"
	"example.com/threads/es/run"
	"example.com/threads/extras/erasure" // extra:tasks
	"example.com/threads/infrastructure/httpserver"
	"example.com/threads/infrastructure/metrics"
	"example.com/threads/interfaceadaptor/readmodel/chatrows"
)

// Databases are what the projection reads from and writes to.
type Databases struct {
	Store     *eventstore.Store
	ReadModel *sqlx.DB
	Close     func()

	Wrap      []writeapi.Wrap                         // the services of commands
	Consumers []func(*run.Turn) (run.Consumer, error) // beside those of this package
	Keys      *erasure.Keyring                        // extra:tasks
}

// Ports are what an updater needs from its program.
type Ports struct {
	// Open opens the databases. The updater retries it, and logs that, until it succeeds.
	Open func(context.Context) (Databases, error)
	// Notify, unless nil, is called with every change of the read model after its commit. It must not block.
	Notify func([]projection.Head)
	// IsActive returns what reports whether the tasks of a tenant may run; nil: those of all. // extra:tasks {
	IsActive func(*eventstore.Store) func(context.Context, es.Tenant) (bool, error) // extra:tasks }
	// Faults, unless nil, inject faults between the projection and its ports.
	Faults run.Faults
	// Tracer creates the projections' tracers; nil: no traces.
	Tracer trace.TracerProvider
	Log    *slog.Logger
}

// advice tells operators what to do.
var advice = run.Advice{
	Parked:  "`threadctl dead-letters list` says why",
	Drifted: "`threadctl rows verify` lists them, and repairs them with --repair",
	Rebuild: "run `threadctl rows rebuild`, or set REBUILD=auto",
	Resume:  "`threadctl rows rebuild --resume` continues it, --cancel ends it",
	Ignore:  "set IGNORE_AGGREGATE_TYPES=",
}

// ReadModel returns the projection of the rows. A rebuild leaves the others alone.
func ReadModel() run.ReadModel {
	return run.ReadModel{
		Name: chatrows.Projection, Tables: readmodel.Tables(), Handlers: readmodel.Handlers(), Others: aggregates.OtherProjections(),
	}
}

// program is what the consumers are made of.
type program struct {
	settings  Settings
	ports     Ports
	databases Databases
}

func options(settings Settings, ports Ports) run.Options {
	return run.Options{
		ReadModel: ReadModel(),
		Open: func(ctx context.Context) (run.Databases, error) {
			databases, err := ports.Open(ctx)
			if err != nil {
				return run.Databases{}, err
			}
			p, store := program{settings, ports, databases}, databases.Store
			return run.Databases{
				Journal: store.Gateway,
				Source: func(projector projection.Sink, checkpoints projection.Checkpoints, pollMin time.Duration) (run.Source, error) {
					polls := settings.Source
					polls.PollMin, polls.PollMax = max(polls.PollMin, pollMin), max(polls.PollMax, 2*pollMin)
					return store.Source(projector, checkpoints, polls)
				},
				Trouble: store.Trouble,
				Rows:    databases.ReadModel,
				Metrics: store.Metrics,
				Consumers: append([]func(*run.Turn) (run.Consumer, error){
					p.newTaskWorker, // extra:tasks
					p.newLeaveOnClose,
				}, databases.Consumers...),
				Close: databases.Close,
			}, nil
		},
		Ignore: settings.Ignore, VerifyRate: settings.VerifyRate, RebuildAuto: settings.RebuildAuto, Advice: advice,
		Notify: ports.Notify, Faults: ports.Faults, Tracer: ports.Tracer, Log: ports.Log,
	}
}

// Server is the read-model-updater. It holds its listening address for health and metrics.
type Server struct {
	*run.Updater
	*httpserver.Server
	Mux      *http.ServeMux // routes may be added before [Server.Run]
	settings Settings
	ports    Ports
	registry *prometheus.Registry
	handler  http.Handler
}

// Listen takes the address. The server works once [Server.Run] runs.
func Listen(ctx context.Context, settings Settings, ports Ports) (*Server, error) {
	server, err := httpserver.Listen(ctx, ports.Log, "UPDATER_ADDR", settings.Address)
	if err != nil {
		return nil, err
	}
	registry := metrics.NewRegistry()
	updater := run.New(options(settings, ports), registry)
	mux := http.NewServeMux()
	mux.HandleFunc("GET /health/alive", server.Alive)
	mux.HandleFunc("GET /health/ready", ready(updater, server))
	mux.Handle("GET /metrics", settings.Measurements.Own(registry))
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "read-model-updater: /health/alive, /health/ready, /metrics, /operate/dead-letters\n")
	})
	return &Server{
		Updater: updater, Server: server, Mux: mux, settings: settings, ports: ports, registry: registry,
		handler: httpserver.WithProblems(mux, "/health/ready tells how far the projection is, /metrics its figures"),
	}, nil
}

// Run projects until ctx ends and the current batches are stored.
func (s *Server) Run(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return s.Updater.Run(ctx) })
	group.Go(func() error {
		return s.settings.Measurements.Beside(ctx, s.registry, s.ports.Log, func(ctx context.Context) error {
			return s.Serve(ctx, s.handler)
		})
	})
	return group.Wait()
}
