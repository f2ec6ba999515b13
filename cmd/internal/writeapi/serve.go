package writeapi

import (
	"context"
	"log/slog"
	"net/http"
	"slices"

	"github.com/danielgtaylor/huma/v2"
	"github.com/prometheus/client_golang/prometheus"

	"example.com/threads/cmd/internal/eventstore"
	"example.com/threads/es"
	"example.com/threads/extras/erasure" // extra:tasks
	"example.com/threads/extras/tasks"   // extra:tasks
	"example.com/threads/infrastructure/httpserver"
	"example.com/threads/infrastructure/metrics"
	"example.com/threads/interfaceadaptor/rest"
)

// Server is the write-api. It holds its listening address.
type Server struct {
	*httpserver.Server
	settings Settings
	store    *eventstore.Store
	// Wrap wraps the services of commands, in order. Set it before Run.
	Wrap []Wrap
	Keys *erasure.Keyring // extra:tasks
	// Describe adds to the OpenAPI document. Set it before Run.
	Describe []func(*huma.OpenAPI)
	log      *slog.Logger
}

// Listen takes the address. The server answers while [Server.Run] runs.
func Listen(ctx context.Context, settings Settings, store *eventstore.Store, log *slog.Logger) (*Server, error) {
	server, err := httpserver.Listen(ctx, log, "WRITE_API_ADDR", settings.Address)
	if err != nil {
		return nil, err
	}
	server.Checks = []httpserver.Check{{Name: "store", Run: store.Check}}
	if store.Skew != nil {
		server.Checks = append(server.Checks, httpserver.Check{Name: "clock", Run: store.Skew.Check})
	}
	return &Server{Server: server, settings: settings, store: store, log: log}, nil
}

// Run takes commands until ctx ends, then finishes the accepted ones.
func (s *Server) Run(ctx context.Context) error {
	registry := metrics.NewRegistry()
	s.measureClock(registry)
	registry.MustRegister(s.store.Metrics...)
	measured := es.NewMetrics()
	registry.MustRegister(measured)
	commands := NewCommands(
		s.store.Gateway, s.Wrap,
		s.Keys, // extra:tasks
		s.settings.CommandSettings, es.Settings{CheckClock: s.store.CheckClock, Logger: s.log, Metrics: measured},
	)
	api := rest.NewHandler(commands.Operations, rest.Settings{
		Source:  "write-api",
		Log:     s.log,
		Timeout: 2 * s.settings.StoreTimeout, // a command may wait for another one as long
		Alive:   http.HandlerFunc(s.Alive),
		Ready:   http.HandlerFunc(s.Ready),
		Metrics: s.settings.Measurements.Own(registry),
		Warning: s.Notes["warning"],
		Describe: slices.Concat(s.Describe, []func(*huma.OpenAPI){
			tasks.Describe(commands.Operations), // extra:tasks
		}),
		Wrap: []func(rest.Perform) rest.Perform{
			commands.Tasks.Accept, // extra:tasks
		},
		Around: func(next http.Handler) http.Handler {
			return metrics.HTTP(registry, rest.Route)(httpserver.NameSpans(rest.Route)(next))
		},
	})
	return commands.Run(ctx, s.log, func(ctx context.Context) error {
		return s.settings.Measurements.Beside(ctx, registry, s.log, func(ctx context.Context) error { return s.Serve(ctx, api) })
	})
}

func (s *Server) measureClock(registry prometheus.Registerer) {
	if s.store.Skew == nil {
		return
	}
	registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "clock_ahead_seconds",
		Help: "How far this computer's clock was ahead of the event store's when they were last compared; negative: behind.",
	}, func() float64 { return s.store.Skew.Ahead().Seconds() }))
}
