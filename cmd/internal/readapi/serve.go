package readapi

import (
	"context"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/vektah/gqlparser/v2/ast"

	"example.com/threads/cmd/internal/eventstore"
	"example.com/threads/cmd/internal/readapi/graphiql"
	"example.com/threads/es"
	"example.com/threads/es/projection"
	"example.com/threads/extras/tasks"   // extra:tasks
	"example.com/threads/extras/tenants" // extra:tenants
	"example.com/threads/infrastructure/httpserver"
	"example.com/threads/infrastructure/metrics"
	"example.com/threads/interfaceadaptor/graphql"
	"example.com/threads/interfaceadaptor/graphql/generated"
	"example.com/threads/interfaceadaptor/readmodel/queryreader"
	"example.com/threads/usecase/query"
)

// Server is the read-api. It holds its listening address.
type Server struct {
	*httpserver.Server
	// Queries and Journals are what queries read from. A program may wrap them before [Server.Run].
	Queries  query.Reader
	Journals func(context.Context) (query.Journals, error)
	// Schema is the schema that is served. A program may replace it by a changed copy before [Server.Run].
	Schema *ast.Schema

	settings Settings
	db       *sqlx.DB
	journal  *journal
	log      *slog.Logger
	reader   *queryreader.Reader
	watcher  *query.Watcher
}

// Listen takes the address. [Server.Run] serves queries from db, and history from store. While store can't be used,
// everything else is served.
func Listen(
	ctx context.Context, settings Settings, db *sqlx.DB, store *eventstore.Later, log *slog.Logger,
) (*Server, error) {
	reader := queryreader.New(db)
	server, err := httpserver.Listen(ctx, log, "READ_API_ADDR", settings.Address)
	if err != nil {
		return nil, err
	}
	journal := &journal{store: store, log: log}
	return &Server{
		Server: server, Queries: reader, Journals: journal.journals, Schema: generated.Schema(), settings: settings, db: db, journal: journal, log: log,
		reader: reader, watcher: query.NewWatcher(reader, log),
	}, nil
}

// Changed reports what a projection in the same process has just committed, so that queries waiting for these versions
// need not wait for the next poll of the database.
func (s *Server) Changed(heads []projection.Head) {
	versions := make(map[es.AggregateID]uint64, len(heads))
	for _, head := range heads {
		versions[head.Key] = head.Version
	}
	s.watcher.Wake(versions)
}

// Run answers queries until ctx ends, then finishes the accepted ones.
func (s *Server) Run(ctx context.Context) error {
	registry := metrics.NewRegistry()
	registry.MustRegister(collectors.NewDBStatsCollector(s.db.DB, "read_model"))
	handler, err := s.routes(ctx, registry)
	if err != nil {
		return err
	}
	// Accepted queries may still wait for versions after ctx ends, so the watcher must outlast them.
	watching, stopWatching := context.WithCancel(context.WithoutCancel(ctx))
	var background sync.WaitGroup
	background.Go(func() { s.watcher.Run(watching) })
	defer background.Wait()
	defer stopWatching()
	return s.settings.Measurements.Beside(ctx, registry, s.log, func(ctx context.Context) error {
		return s.Serve(ctx, handler)
	})
}

// resolver resolves the fields of Query and Subscription.
type resolver struct {
	graphql.Resolver
	tasks.TaskResolver     // extra:tasks
	tenants.TenantResolver // extra:tenants
}

// routes returns the program's paths. Streams end with ctx; queries do not.
func (s *Server) routes(ctx context.Context, registry *prometheus.Registry) (http.Handler, error) {
	page, err := graphiql.Files()
	if err != nil {
		return nil, err
	}
	queries := query.New(s.Queries, s.watcher, query.Settings{
		WaitTimeout: s.settings.WaitTimeout, Waited: measureWaits(registry),
	})
	resolver := resolver{
		graphql.NewResolver(queries, query.NewHistory(s.Journals)),
		tasks.NewResolver(tasks.NewReader(s.reader), queries), // extra:tasks
		tenants.NewResolver(tenants.NewReader(s.reader)),      // extra:tenants
	}
	queries.Add(tasks.NewReader(s.reader).Versions()) // extra:tasks
	queries.Add(tenants.Versions())                   // extra:tenants
	mux := http.NewServeMux()
	endpoint := graphql.NewHandler(ctx, queries, generated.Executable(s.Schema, resolver), s.log, s.settings.Limits)
	mux.Handle("GET /graphql", endpoint)
	mux.Handle("POST /graphql", endpoint)
	mux.HandleFunc("GET /health/alive", s.Alive)
	mux.HandleFunc("GET /health/ready", s.ready)
	mux.Handle("GET /metrics", s.settings.Measurements.Own(registry))
	for path, file := range page {
		mux.Handle("GET "+path, file)
	}
	answer := httpserver.WithProblems(mux, "GraphQL is at /graphql, and / is a page to try it on")
	return metrics.HTTP(registry, httpserver.Route)(httpserver.NameSpans(httpserver.Route)(answer)), nil
}

// IsActive reports whether a tenant is active, from the read model.
func (s *Server) IsActive(ctx context.Context, named es.Tenant) (bool, error) { // extra:tenants {
	return tenants.NewReader(s.reader).IsActive(ctx, named)
} // extra:tenants }

// measureWaits returns an observer of how long queries wait for the versions of their consistency tokens.
func measureWaits(registry prometheus.Registerer) func(time.Duration, error) {
	waits := prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name:    "consistency_wait_duration_seconds",
		Help:    "Time that queries waited for their consistency tokens, by outcome: reached, or the kind of the error (behind: the version was not reached in time).",
		Buckets: []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2, 5, 10},
	}, []string{"outcome"})
	registry.MustRegister(waits)
	return func(took time.Duration, err error) {
		outcome := "reached"
		if err != nil {
			outcome = es.KindOf(err).String()
		}
		waits.WithLabelValues(outcome).Observe(took.Seconds())
	}
}
