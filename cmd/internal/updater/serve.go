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

	"example.com/threads/cmd/internal/access"
	"example.com/threads/cmd/internal/eventstore"
	"example.com/threads/cmd/internal/measurements"
	"example.com/threads/infrastructure/httpserver"
	"example.com/threads/infrastructure/metrics"
	"example.com/threads/interfaceadaptor/stream"
	"example.com/threads/usecase/erasure"
	"example.com/threads/usecase/projection"
)

// Databases are what the projection reads from and writes to.
type Databases struct {
	Store     *eventstore.Store
	Keys      *erasure.Keyring // nil: erasure is off
	ReadModel *sqlx.DB
	Close     func()
}

// Ports is what an updater works with.
type Ports struct {
	// Open opens the databases. The updater tries again, and says so in the log, as long as they are not there.
	Open func(context.Context) (Databases, error)
	// Notify, unless nil, is told of every change of the read model after its commit. It must not block.
	Notify func([]projection.Head)
	// Access lets operators in.
	Access *access.Access
	// Faults, unless nil, stands between the projection and what it works with.
	Faults Faults
	// Tracer makes tracers for the projections; nil: nothing is traced.
	Tracer trace.TracerProvider
	Log    *slog.Logger
}

// tracer returns the tracer of a projection; nil where nothing is traced.
func (p Ports) tracer(projection string) trace.Tracer {
	if p.Tracer == nil {
		return nil
	}
	return p.Tracer.Tracer("projection/" + projection)
}

// Faults is what the failure lab does to a projection.
type Faults interface {
	// Turn waits until the projection may work. The context that it returns ends with ctx, or when the projection dies.
	Turn(ctx context.Context) (context.Context, error)
	// Projector receives the source's records instead of the projector.
	Projector(projector stream.Projector) stream.Projector
	// Journal is read by the projector instead of the journal.
	Journal(journal projection.Journal) projection.Journal
}

// noFaults is how it is outside of the lab.
type noFaults struct{}

func (noFaults) Turn(ctx context.Context) (context.Context, error)     { return ctx, nil }
func (noFaults) Projector(projector stream.Projector) stream.Projector { return projector }
func (noFaults) Journal(journal projection.Journal) projection.Journal { return journal }

// Server is the read-model-updater, with health and metrics listening.
type Server struct {
	*httpserver.Server
	follower *follower
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
	follower := &follower{settings: settings, ports: ports, registry: registry, outcomes: newOutcomes(registry)}
	watch := &watch{follower: follower, gauges: newGauges(registry), since: time.Now()}
	measured := watch.measured(metrics.Handler(registry))
	shown := measured
	if settings.Measurements.Address != "" {
		shown = measurements.Handler(settings.Measurements, registry)
	}
	return &Server{Server: server, follower: follower, settings: settings, metrics: measured, handler: routes(watch, shown, &operate{follower, ports.Access.Gate})}, nil
}

// Wake has the projection look for events at once. It never blocks.
func (s *Server) Wake() {
	if parts := s.follower.parts.Load(); parts != nil {
		parts.source.Wake()
		if parts.published != nil {
			parts.published.source.Wake()
		}
	}
}

// Lag tells how far the read model is behind; false as long as the databases are not there.
func (s *Server) Lag(ctx context.Context) (stream.Lag, bool) {
	parts := s.follower.parts.Load()
	if parts == nil {
		return stream.Lag{}, false
	}
	return parts.lag(ctx), true
}

// Rebuilding tells how far a rebuild is; nil: there is none, or it can't be told.
func (s *Server) Rebuilding(ctx context.Context) *Rebuilding {
	shared := s.follower.shared.Load()
	if shared == nil {
		return nil
	}
	found, err := shared.rebuilding(ctx)
	if err != nil {
		return nil // the checks of the database tell
	}
	return found
}

// Run projects until ctx ends and the batches in hand are stored.
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

// measured has the gauges measured before they are shown.
func (w *watch) measured(metrics http.Handler) http.Handler {
	return http.HandlerFunc(func(response http.ResponseWriter, r *http.Request) {
		w.measure(r.Context())
		metrics.ServeHTTP(response, r)
	})
}

func routes(watch *watch, metrics http.Handler, operate *operate) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /health/alive", httpserver.Alive(nil))
	mux.HandleFunc("GET /health/ready", watch.ready)
	mux.Handle("GET /metrics", metrics)
	operate.addTo(mux)
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "read-model-updater: /health/alive, /health/ready, /metrics, /operate/dead-letters\n")
	})
	return httpserver.WithProblems(mux, "/health/ready tells how far the projection is, /metrics its figures")
}
