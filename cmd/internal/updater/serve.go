package updater

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"sync"

	"github.com/jmoiron/sqlx"

	"example.com/threads/cmd/internal/eventstore"
	"example.com/threads/infrastructure/httpserver"
	"example.com/threads/infrastructure/metrics"
	"example.com/threads/interfaceadaptor/stream"
	"example.com/threads/usecase/projection"
)

// Databases are what the projection reads from and writes to.
type Databases struct {
	Store     *eventstore.Store
	ReadModel *sqlx.DB
	Close     func()
}

// Ports is what an updater works with.
type Ports struct {
	// Open opens the databases. The updater tries again, and says so in the log, as long as they are not there.
	Open func(context.Context) (Databases, error)
	// Notify, unless nil, is told of every change of the read model after its commit. It must not block.
	Notify func([]projection.Head)
	Log    *slog.Logger
}

// Server is the read-model-updater, with health and metrics listening.
type Server struct {
	*httpserver.Server
	work *updater
}

// Listen takes the address. The server works once [Server.Run] runs.
func Listen(ctx context.Context, settings Settings, ports Ports) (*Server, error) {
	server, err := httpserver.Listen(ctx, ports.Log, "UPDATER_ADDR", settings.Address)
	if err != nil {
		return nil, err
	}
	return &Server{Server: server, work: &updater{settings: settings, ports: ports, log: ports.Log}}, nil
}

// Wake has the projection look for events at once. It never blocks.
func (s *Server) Wake() {
	if parts := s.work.parts.Load(); parts != nil {
		parts.source.Wake()
	}
}

// Lag tells how far the read model is behind; false as long as the databases are not there.
func (s *Server) Lag(ctx context.Context) (stream.Lag, bool) {
	parts := s.work.parts.Load()
	if parts == nil {
		return stream.Lag{}, false
	}
	return parts.source.Lag(ctx), true
}

// Run projects until ctx ends and the batches in hand are stored.
func (s *Server) Run(ctx context.Context) error {
	registry := metrics.NewRegistry()
	s.work.registry = registry
	s.work.outcomes = newOutcomes(registry)
	watch := newWatch(registry, s.work)

	ctx, stop := context.WithCancel(ctx)
	var background sync.WaitGroup
	background.Go(func() { s.work.run(ctx) })
	served := s.Serve(ctx, routes(watch, metrics.Handler(registry)))
	stop()
	background.Wait()
	return served
}

func routes(watch *watch, metrics http.Handler) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /health/alive", httpserver.Alive())
	mux.HandleFunc("GET /health/ready", watch.ready)
	mux.HandleFunc("GET /metrics", func(w http.ResponseWriter, r *http.Request) {
		watch.measure(r.Context())
		metrics.ServeHTTP(w, r)
	})
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "read-model-updater: /health/alive, /health/ready, /metrics\n")
	})
	return mux
}
