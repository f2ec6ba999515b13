package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"golang.org/x/sync/errgroup"

	"example.com/threads/cmd/internal/access"
	"example.com/threads/cmd/internal/erasure"
	"example.com/threads/cmd/internal/eventstore"
	"example.com/threads/cmd/internal/measurements"
	"example.com/threads/cmd/internal/program"
	"example.com/threads/cmd/internal/readapi"
	"example.com/threads/infrastructure/config"
	"example.com/threads/infrastructure/config/stores"
	"example.com/threads/infrastructure/database"
	"example.com/threads/infrastructure/tracing"
)

const about = `
Answers GraphQL queries and subscriptions on chat threads from the read model at /graphql, and threadHistory and threadAt
from the event store, which the rest does not need. GET / is a page to try them on.
SIGINT and SIGTERM end it once the queries that it has accepted are answered; the clients of subscriptions are told to
connect again.

Browsers may open a WebSocket from a page of this server's own origin only, so a proxy before it has to pass the header
Host on.
`

func main() { program.Main("read-api", run) }

// settings are what the environment says.
type settings struct {
	api         readapi.Settings
	databaseURL string
	store       eventstore.Settings
	erasure     erasure.Settings
	access      access.Settings
	logging     program.Logging
	tracing     tracing.Settings
}

// readSettings reads them.
func readSettings(r *config.Reader) (s settings) {
	s.api = readapi.ReadSettings(r)
	s.api.Measurements = measurements.ReadSettings(r)
	s.databaseURL = stores.ReadDatabaseURL(r)
	s.store = eventstore.ReadPlace(r)
	s.erasure = erasure.ReadSettings(r, "")
	s.access = access.ReadSettings(r)
	s.logging = program.ReadLogging(r)
	s.tracing = tracing.ReadSettings(r)
	return s
}

// run is the program: it serves until ctx ends, then finishes what it has accepted. Its log goes to stdout, and the
// line with the message "listening" tells the address.
func run(ctx context.Context, args []string, getenv func(string) string, stdout io.Writer) (err error) {
	s, helped, err := program.Settings("read-api", about, readSettings, args, getenv, stdout)
	if helped || err != nil {
		return err
	}
	log := s.logging.Logger(stdout)
	traces, err := tracing.Start(ctx, s.tracing, "read-api", log)
	if err != nil {
		return err
	}
	defer traces.Stop()
	db, err := database.Open(ctx, s.databaseURL, database.Settings{Logger: log})
	if err != nil {
		return fmt.Errorf("DATABASE_URL: %w", err)
	}
	defer func() { _ = db.Close() }()
	store := eventstore.OpenLater(s.store, log)
	defer func() { err = errors.Join(err, store.Close(context.WithoutCancel(ctx))) }()
	keys, err := erasure.OpenIn(ctx, s.erasure, store)
	if err != nil {
		return err
	}
	letIn, err := access.Open(ctx, s.access, false, log)
	if err != nil {
		return err
	}
	server, err := readapi.Listen(ctx, s.api, db, store, keys, letIn, log)
	if err != nil {
		return errors.Join(err, letIn.Close())
	}
	server.Tracer = traces.Tracer("http")
	log.InfoContext(ctx, "listening", "url", server.URL())
	group, serving := errgroup.WithContext(ctx)
	group.Go(func() error { return letIn.Run(serving) })
	group.Go(func() error { return server.Run(serving) })
	err = group.Wait()
	log.InfoContext(ctx, "stopped")
	return err
}
