package commands

import (
	"context"

	"github.com/danielgtaylor/huma/v2"

	"example.com/threads/cmd/internal/system"
	"example.com/threads/cmd/write-api/docs"
	"example.com/threads/es"
	"example.com/threads/extras/tasks"   // extra:tasks
	"example.com/threads/extras/tenants" // extra:tenants
	"example.com/threads/infrastructure/eventstore"
	"example.com/threads/infrastructure/httpserver"
	"example.com/threads/interfaceadaptor/rest"
)

// Server is the write-api. It holds its listening address.
type Server struct {
	*httpserver.Server
	run func(context.Context) error
}

// Run takes commands until ctx ends, then finishes the accepted ones.
func (s *Server) Run(ctx context.Context) error { return s.run(ctx) }

// Listen takes the address, for commands that are stored in store.
func Listen(ctx context.Context, address string, settings Settings, store *eventstore.Store, parts system.Parts) (*Server, error) {
	server, err := parts.Listen(ctx, "WRITE_API_ADDR", address)
	if err != nil {
		return nil, err
	}
	// extra:tenants {
	server.Around = append(server.Around, parts.Tenants.Middleware(tenants.InJournal(store.Gateway, parts.Log), parts.Log))
	// extra:tenants }
	server.Reports = append(server.Reports, func(ctx context.Context, health *httpserver.Health) {
		health.Check("store", store.Check(ctx))
		health.Check("clock", store.CheckClock(ctx))
	})
	measured := es.NewMetrics()
	parts.Registry.MustRegister(append(store.Metrics, measured)...)
	commands := New(
		store.Gateway,
		parts.Keys, // extra:erasure
		settings, es.Settings{CheckClock: store.CheckClock, Logger: parts.Log, Metrics: measured},
	)
	api := rest.NewHandler(commands.Operations, rest.Settings{
		Source:  "write-api",
		Log:     parts.Log,
		Timeout: 2 * settings.StoreTimeout, // a command may wait for another one as long
		Describe: []func(*huma.OpenAPI){
			func(doc *huma.OpenAPI) { parts.Access.Describe(doc, rest.DescribeProblem) }, // extra:access
			tasks.Describe(commands.Operations),                                          // extra:tasks
		},
		Wrap: []func(rest.Perform) rest.Perform{
			commands.Tasks.Accept, // extra:tasks
		},
	})
	docs.AddTo(api)
	return &Server{server, func(ctx context.Context) error {
		defer commands.Finish(ctx, parts.Log)
		return server.Serve(ctx, server.Handler(api, parts.Registry, "/docs tells what there is"))
	}}, nil
}
