// Package queries is the query side: SQL reader, version watcher, queries, and the GraphQL API over them.
package queries

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/jmoiron/sqlx"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"example.com/threads/cmd/internal/system"
	"example.com/threads/cmd/read-api/graphiql"
	"example.com/threads/es"
	"example.com/threads/es/migration"
	"example.com/threads/es/projection"
	"example.com/threads/es/rowstore"
	"example.com/threads/extras/history"          // extra:history
	"example.com/threads/extras/limits/documents" // extra:limits
	"example.com/threads/extras/replica"          // extra:replica
	"example.com/threads/extras/tasks"            // extra:tasks
	"example.com/threads/extras/tenants"          // extra:tenants
	"example.com/threads/extras/websocket"        // extra:websocket
	"example.com/threads/infrastructure/config"
	"example.com/threads/infrastructure/httpserver"
	"example.com/threads/interfaceadaptor/graphql"
	"example.com/threads/interfaceadaptor/graphql/generated"
	"example.com/threads/interfaceadaptor/readmodel/chatrows"
	"example.com/threads/interfaceadaptor/readmodel/queryreader"
	"example.com/threads/usecase/query"
)

// Settings are read from the environment.
type Settings struct {
	Address     string
	WaitTimeout time.Duration
	API         graphql.Settings
	Documents   documents.Limits   // extra:limits
	WebSocket   websocket.Settings // extra:websocket
	Replica     replica.Settings   // extra:replica
	Tenants     tenants.Databases  // extra:tenants
}

func ReadSettings(r *config.Reader) Settings {
	return Settings{
		Documents: documents.ReadSettings(r), // extra:limits
		WebSocket: websocket.ReadSettings(r), // extra:websocket
		Address:   r.Address("READ_API_ADDR", ":28082", "address to listen on"),
		WaitTimeout: r.Duration("READ_WAIT_TIMEOUT", 2*time.Second, time.Millisecond, 8*time.Second,
			"how long a query waits for the versions of its Consistency-Token"),
		API: graphql.Settings{
			ConnectionLimit: r.Int("LIVE_CONNECTION_LIMIT", 10_000, 1, 1_000_000,
				"event streams and WebSockets open at once; one more is answered with 503"),
		},
	}
}

// Server is the read-api. It holds its listening address.
type Server struct {
	*httpserver.Server
	Watcher *projection.Watcher         // of versions in the read model
	Run     func(context.Context) error // until ctx ends; it finishes accepted queries, and ends streams at once
}

type resolver struct {
	graphql.Resolver
	history.HistoryResolver // extra:history
	tasks.TaskResolver      // extra:tasks
	tenants.TenantResolver  // extra:tenants
}

// Listen takes the address, for queries of the read model in db.
func Listen(
	ctx context.Context, s Settings, db *sqlx.DB, parts system.Parts,
	store history.Store, // extra:history
) (*Server, error) {
	server, err := parts.Listen(ctx, "READ_API_ADDR", s.Address)
	if err != nil {
		return nil, err
	}
	reported := func(ctx context.Context, health *httpserver.Health) { report(ctx, db, health) }
	parts.Registry.MustRegister(collectors.NewDBStatsCollector(db.DB, "read_model"))

	reader := queryreader.New(db)
	registry := tenants.TenantResolver{ReadModel: reader} // extra:tenants
	watcher := projection.NewWatcher(reader.Versions, parts.Log)
	versions, waiting, background := query.Watcher(watcher), watcher.Waiting, []func(context.Context){watcher.Run}
	if s.Replica.URL != "" { // extra:replica {
		r := s.Replica.Of(db, watcher, parts.Log, parts.Tracer, parts.Registry)
		reader, versions, waiting, background = reader.From(func(queryreader.Run) queryreader.Run { return r.Read }), r, r.Waiting, append(background, r.Run)
		reported = r.Report(report)
		server.Around = append(server.Around, r.Around)
	} // extra:replica }
	server.Reports = append(server.Reports, reported)
	if len(s.Tenants) > 0 { // extra:tenants {
		places, err := s.Tenants.Open(ctx, versions, parts.Log, parts.Tracer)
		if err != nil {
			return nil, err
		}
		before := waiting
		reader, versions, waiting, background = reader.From(places.Around), places, func() int { return before() + places.Waiting() }, append(background, places.Run)
		server.Reports = append(server.Reports, places.Report)
	} // extra:tenants }
	server.Reports = append(server.Reports, history.Report(store, parts.Log)) // extra:history
	promauto.With(parts.Registry).NewGaugeFunc(prometheus.GaugeOpts{
		Name: "subscribers", Help: "Subscriptions that wait for a change, and queries that wait for a version.",
	}, func() float64 { return float64(waiting()) })
	rows, schema := query.Reader(reader), generated.Schema()
	rows = parts.Keys.Reader(rows)       // extra:erasure
	schema = parts.Access.Schema(schema) // extra:access
	queries := query.New(rows, versions, query.Settings{WaitTimeout: s.WaitTimeout, Waited: measureWaits(parts.Registry)})
	resolver := resolver{
		graphql.Resolver{Queries: queries},
		history.HistoryResolver{History: history.New(store, parts.Log)}, // extra:history
		tasks.TaskResolver{Tables: reader, Changes: queries},            // extra:tasks
		registry, // extra:tenants
	}
	queries.Add(tasks.Versions(reader))                                                           // extra:tasks
	queries.Add(tenants.Versions())                                                               // extra:tenants
	server.Around = append(server.Around, parts.Tenants.Middleware(registry.IsActive, parts.Log)) // extra:tenants

	s.API.Extend = append(s.API.Extend, s.Documents.Apply)  // extra:limits
	s.API.Extend = append(s.API.Extend, parts.Keys.Answers) // extra:erasure
	streams, endStreams := context.WithCancel(context.WithoutCancel(ctx))
	endpoint := graphql.NewHandler(streams, queries, generated.Executable(schema, resolver), parts.Log, s.API)
	served := http.Handler(endpoint)
	served = s.WebSocket.Around(endpoint, parts.Log)(served) // extra:websocket
	mux := chi.NewRouter()
	mux.Handle("GET /graphql", served)
	mux.Handle("POST /graphql", served)
	graphiql.AddTo(mux)
	handler := server.Handler(mux, parts.Registry, "GraphQL is at /graphql, and / is a page to try it on")
	return &Server{server, watcher, func(ctx context.Context) error {
		defer context.AfterFunc(ctx, endStreams)()
		// Accepted queries may still wait for versions after ctx ends, so the watcher must outlast them.
		watching, stopWatching := context.WithCancel(context.WithoutCancel(ctx))
		var working sync.WaitGroup
		for _, work := range background {
			working.Go(func() { work(watching) })
		}
		defer working.Wait()
		defer stopWatching()
		return server.Serve(ctx, handler)
	}}, nil
}

// measureWaits returns an observer of how long queries wait for the versions of their consistency tokens.
func measureWaits(registry prometheus.Registerer) func(time.Duration, error) {
	waits := promauto.With(registry).NewHistogramVec(prometheus.HistogramOpts{
		Name:    "consistency_wait_duration_seconds",
		Help:    "Time that queries waited for their consistency tokens, by outcome: reached, or the kind of the error (behind: the version was not reached in time).",
		Buckets: []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2, 5, 10},
	}, []string{"outcome"})
	return func(took time.Duration, err error) {
		outcome := "reached"
		if err != nil {
			outcome = es.KindOf(err).String()
		}
		waits.WithLabelValues(outcome).Observe(took.Seconds())
	}
}

// silentAfter is the age of a report that is too old to be trusted: the updater reports every 10 s or more often.
const silentAfter = 30 * time.Second

// report makes the program ready once the read model has caught up; the lag is the one that the updater reported last.
func report(ctx context.Context, db *sqlx.DB, health *httpserver.Health) {
	var report rowstore.Report
	err := migration.Check(ctx, db, system.Schemas()...)
	if err == nil {
		report, err = rowstore.ReadReport(ctx, db, chatrows.Projection)
	}
	if err != nil {
		err = fmt.Errorf("%w: %w", httpserver.Public("the database of the read model can't be used; the log says why"), err)
	}
	health.Check("database", err)
	silent := time.Since(report.At)
	lag := report.Lag
	lag.AtLeast = lag.AtLeast || silent > silentAfter
	system.ReportLag(health, lag)
	if err != nil {
		return
	}
	system.CheckCaughtUp(health, report.CaughtUp, lag)
	switch {
	case report.At.Unix() <= 0:
		health.Warn("no read-model-updater has reported yet how far the read model is")
	case silent > silentAfter:
		health.Warn(fmt.Sprintf("no read-model-updater has reported for %.0f s how far the read model is", silent.Seconds()))
	}
}
