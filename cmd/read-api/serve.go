package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"sync"

	"github.com/jmoiron/sqlx"

	"example.com/threads/infrastructure/database"
	"example.com/threads/infrastructure/httpserver"
	"example.com/threads/infrastructure/logging"
	"example.com/threads/infrastructure/metrics"
	"example.com/threads/interfaceadaptor/graphql"
	"example.com/threads/interfaceadaptor/graphql/graphiql"
	"example.com/threads/interfaceadaptor/readmodel/queryreader"
	rdbmigration "example.com/threads/rdb-migration"
	"example.com/threads/usecase/query"
)

// serve puts the program together and runs it until ctx ends.
func serve(ctx context.Context, s settings, stdout io.Writer) error {
	log := logging.New(stdout, s.logLevel, s.logFormat)
	db, err := database.Open(ctx, s.databaseURL, database.Settings{Logger: log})
	if err != nil {
		return fmt.Errorf("DATABASE_URL: %w", err)
	}
	defer func() { _ = db.Close() }()

	reader := queryreader.New(db)
	watcher := query.NewWatcher(reader, log, query.Pace{})
	queries := query.New(reader, reader, reader, watcher, query.Settings{WaitTimeout: s.waitTimeout})
	handler, err := routes(ctx, s, db, queries, log)
	if err != nil {
		return err
	}
	server, err := httpserver.Listen(ctx, log, "READ_API_ADDR", s.address)
	if err != nil {
		return err
	}

	// Queries that are still answered after the stop can wait for versions, so the watcher outlasts them.
	watching, stopWatching := context.WithCancel(context.WithoutCancel(ctx))
	var background sync.WaitGroup
	background.Go(func() { watcher.Run(watching) })
	defer background.Wait()
	defer stopWatching()

	log.InfoContext(ctx, "listening", "url", server.URL())
	err = server.Serve(ctx, handler)
	log.InfoContext(ctx, "stopped")
	return err
}

// routes are the program's paths. Streams end with ctx, queries do not.
func routes(ctx context.Context, s settings, db *sqlx.DB, queries *query.Queries, log *slog.Logger) (http.Handler, error) {
	page, err := graphiql.NewHandler()
	if err != nil {
		return nil, err
	}
	registry := metrics.NewRegistry()
	mux := http.NewServeMux()
	mux.Handle("/graphql", graphql.NewHandler(ctx, queries, log, graphql.Settings{ComplexityLimit: s.complexityLimit}))
	mux.Handle("GET /health/alive", httpserver.Alive())
	mux.Handle("GET /health/ready", httpserver.Ready(log, httpserver.Check{Name: "database", Run: func(ctx context.Context) error {
		return rdbmigration.Check(ctx, db, rdbmigration.ReadModel())
	}}))
	mux.Handle("GET /metrics", metrics.Handler(registry))
	mux.Handle("GET /graphiql/", page)
	mux.Handle("GET /{$}", page)
	return metrics.HTTP(registry, func(r *http.Request) string { return r.Pattern })(mux), nil
}
