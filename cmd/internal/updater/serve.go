package updater

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"time"

	"github.com/jmoiron/sqlx"
	"go.opentelemetry.io/otel/trace"
	"golang.org/x/sync/errgroup"

	"example.com/threads/cmd/internal/eventstore"
	"example.com/threads/cmd/internal/measurements"
	"example.com/threads/es/projection"
	"example.com/threads/es/stream"
	"example.com/threads/extras/access"
	"example.com/threads/infrastructure/httpserver"
	"example.com/threads/infrastructure/metrics"
	"example.com/threads/usecase/erasure"
)

// Databases are what the projection reads from and writes to.
type Databases struct {
	Store     *eventstore.Store
	Keys      *erasure.Keyring // nil: erasure is off
	ReadModel *sqlx.DB
	Close     func()
}

// Ports are what an updater needs from its program.
type Ports struct {
	// Open opens the databases. The updater retries it, and logs that, until it succeeds.
	Open func(context.Context) (Databases, error)
	// Notify, unless nil, is called with every change of the read model after its commit. It must not block.
	Notify func([]projection.Head)
	// Access authenticates operators.
	Access *access.Access
	// Faults, unless nil, inject faults between the projection and its ports.
	Faults Faults
	// Tracer creates the projections' tracers; nil: no traces.
	Tracer trace.TracerProvider
	Log    *slog.Logger
}

// tracer returns the tracer of a projection; nil: no traces.
func (p Ports) tracer(name string) trace.Tracer {
	if p.Tracer == nil {
		return nil
	}
	return p.Tracer.Tracer("projection/" + name)
}

// Faults are what the failure lab does to a projection.
type Faults interface {
	// Turn waits until the projection may work. The returned context ends with ctx, or when the projection is killed.
	Turn(ctx context.Context) (context.Context, error)
	// Projector wraps the projector that receives the source's records.
	Projector(projector stream.Projector) stream.Projector
	// Journal wraps the journal that the projector reads.
	Journal(journal projection.Journal) projection.Journal
}

// noFaults is used outside of the lab.
type noFaults struct{}

func (noFaults) Turn(ctx context.Context) (context.Context, error)     { return ctx, nil }
func (noFaults) Projector(projector stream.Projector) stream.Projector { return projector }
func (noFaults) Journal(journal projection.Journal) projection.Journal { return journal }

// Server is the read-model-updater. It holds its listening address for health and metrics.
type Server struct {
	*httpserver.Server
	follower *journalFollower
	settings Settings
	metrics  http.Handler
	handler  http.Handler
}

// Listen takes the address. The server works once [Server.Run] runs.
func Listen(ctx context.Context, settings Settings, ports Ports) (*Server, error) {
	server, err := httpserver.Listen(ctx, ports.Log, "UPDATER_ADDR", settings.Address)
	if err != nil {
		return nil, err
	}
	if ports.Faults == nil {
		ports.Faults = noFaults{}
	}
	registry := metrics.NewRegistry()
	follower := &journalFollower{settings: settings, ports: ports, registry: registry, outcomes: newOutcomes(registry)}
	watch := &healthWatch{follower: follower, since: time.Now()}
	registry.MustRegister(watch)
	return &Server{Server: server, follower: follower, settings: settings, metrics: metrics.Handler(registry), handler: routes(watch, measurements.Handler(settings.Measurements, registry), &operations{follower, ports.Access.Gate})}, nil
}

// Wake makes the projection poll at once. It never blocks.
func (s *Server) Wake() {
	if parts := s.follower.parts.Load(); parts != nil {
		parts.source.Wake()
		if parts.published != nil {
			parts.published.source.Wake()
		}
	}
}

// Lag returns the lag of the read model; false: the databases are not open yet.
func (s *Server) Lag(ctx context.Context) (stream.Lag, bool) {
	parts := s.follower.parts.Load()
	if parts == nil {
		return stream.Lag{}, false
	}
	return parts.lag(ctx), true
}

// Rebuilding returns the progress of the latest rebuild; nil: unknown.
func (s *Server) Rebuilding(ctx context.Context) *Rebuilding {
	shared := s.follower.shared.Load()
	if shared == nil {
		return nil
	}
	found, err := shared.rebuilding(ctx)
	if err != nil {
		return nil // the checks of the database report it
	}
	return found
}

// Run projects until ctx ends and the current batches are stored.
func (s *Server) Run(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return s.follower.run(ctx) })
	group.Go(func() error {
		return measurements.Beside(ctx, s.settings.Measurements, s.metrics, s.follower.ports.Log, func(ctx context.Context) error {
			return s.follower.ports.Access.Serve(ctx, s.Server, s.handler)
		})
	})
	return group.Wait()
}

func routes(watch *healthWatch, metricsHandler http.Handler, operate *operations) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /health/alive", httpserver.Alive(watch.follower.ports.Access.Notes))
	mux.HandleFunc("GET /health/ready", watch.ready)
	mux.Handle("GET /metrics", metricsHandler)
	operate.addTo(mux)
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "read-model-updater: /health/alive, /health/ready, /metrics, /operate/dead-letters\n")
	})
	return httpserver.WithProblems(mux, "/health/ready tells how far the projection is, /metrics its figures")
}
