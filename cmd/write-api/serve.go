package main

import (
	"context"
	"io"
	"time"

	"example.com/threads/infrastructure/awsclient"
	"example.com/threads/infrastructure/httpserver"
	"example.com/threads/infrastructure/logging"
	"example.com/threads/infrastructure/metrics"
	"example.com/threads/interfaceadaptor/gateway/dynamodb"
	"example.com/threads/interfaceadaptor/repository"
	"example.com/threads/interfaceadaptor/rest"
	"example.com/threads/usecase/command"
)

// drainTimeout is how long snapshots may still be written after the last request has been answered. What is left then
// costs time at the next load.
const drainTimeout = 2 * time.Second

// serve puts the program together and runs it until ctx ends.
func serve(ctx context.Context, s settings, stdout io.Writer) error {
	log := logging.New(stdout, s.logLevel, s.logFormat)
	registry := metrics.NewRegistry()

	aws, err := awsclient.Load(ctx)
	if err != nil {
		return err
	}
	gateway, err := dynamodb.New(awsclient.DynamoDB(aws), s.gateway, log)
	if err != nil {
		return err
	}
	threads := repository.New(gateway, repository.Settings{SnapshotEvery: uint64(s.snapshotEvery), Logger: log})
	commands := command.NewService(threads, command.Settings{Timeout: s.storeTimeout})
	handler := rest.NewHandler(commands, rest.Settings{
		Source:         "write-api",
		Log:            log,
		Timeout:        2 * s.storeTimeout, // a command may have to wait for one that the store keeps waiting
		TrustedProxies: s.trustedProxies,
		Alive:          httpserver.Alive(),
		Ready:          httpserver.Ready(log, httpserver.Check{Name: "store", Run: gateway.Check}),
		Metrics:        metrics.Handler(registry),
		Around:         metrics.HTTP(registry, rest.Route),
	})

	server, err := httpserver.Listen(ctx, log, "WRITE_API_ADDR", s.address)
	if err != nil {
		return err
	}
	log.InfoContext(ctx, "listening", "url", server.URL())
	served := server.Serve(ctx, handler)
	commands.Drain()
	draining, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainTimeout)
	defer cancel()
	if err := threads.Close(draining); err != nil {
		log.WarnContext(ctx, "snapshots that were due have been given up; the next events of their threads make up for it", "error", err)
	}
	log.InfoContext(ctx, "stopped")
	return served
}
