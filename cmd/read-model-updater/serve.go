package main

import (
	"context"
	"io"
	"net/http"
	"sync"

	"example.com/threads/infrastructure/awsclient"
	"example.com/threads/infrastructure/httpserver"
	"example.com/threads/infrastructure/logging"
	"example.com/threads/infrastructure/metrics"
	"example.com/threads/interfaceadaptor/gateway/dynamodb"
	"example.com/threads/interfaceadaptor/repository"
)

// serve puts the program together and runs it until ctx ends.
func serve(ctx context.Context, s settings, stdout io.Writer) error {
	log := logging.New(stdout, s.logLevel, s.logFormat)
	registry := metrics.NewRegistry()

	aws, err := awsclient.Load(ctx)
	if err != nil {
		return err
	}
	tables := awsclient.DynamoDB(aws)
	gateway, err := dynamodb.New(tables, s.gateway, log)
	if err != nil {
		return err
	}
	work := &updater{
		settings: s,
		log:      log,
		journal:  repository.NewJournalReader(gateway),
		tables:   tables,
		streams:  awsclient.Streams(aws),
		outcomes: newOutcomes(registry),
	}
	watch := newWatch(registry, work)
	server, err := httpserver.Listen(ctx, log, "UPDATER_ADDR", s.address)
	if err != nil {
		return err
	}
	log.InfoContext(ctx, "listening", "url", server.URL())

	ctx, stop := context.WithCancel(ctx)
	var background sync.WaitGroup
	background.Go(func() { work.run(ctx) })
	served := server.Serve(ctx, routes(watch, metrics.Handler(registry)))
	stop()
	background.Wait()
	log.InfoContext(ctx, "stopped")
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
