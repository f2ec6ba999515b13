package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"example.com/threads/cmd/internal/eventstore"
	"example.com/threads/cmd/internal/eventstore/dynamo"
	"example.com/threads/cmd/internal/program"
	"example.com/threads/cmd/internal/readapi"
	"example.com/threads/es/database"
	"example.com/threads/extras/access"          // extra:access
	"example.com/threads/extras/erasure"         // extra:erasure
	"example.com/threads/extras/erasure/awskeys" // extra:erasure
	"example.com/threads/infrastructure/config"
	"example.com/threads/infrastructure/config/stores"
	"example.com/threads/infrastructure/metrics"
	"example.com/threads/infrastructure/tracing"
)

const about = `
Answers GraphQL queries and subscriptions on chat threads at /graphql, from the read model. Only threadHistory, threadAt
and accountHistory need the event store, and with ERASURE=on the start. GET / is a page to try queries on.
SIGINT and SIGTERM end it once the accepted queries are answered; the clients of subscriptions are told to reconnect.

Browsers may open a WebSocket only from a page of this server's own origin or of one in ALLOWED_ORIGINS. A proxy in
front of it must pass the header Host on.
`

func main() { program.Main("read-api", run) }

// settings are read from the environment.
type settings struct {
	api         readapi.Settings
	databaseURL string
	store       eventstore.Settings
	erasure     erasure.Settings // extra:erasure
	access      access.Settings  // extra:access
	logging     program.Logging
	tracing     tracing.Settings
}

func readSettings(r *config.Reader) (s settings) {
	s.api = readapi.ReadSettings(r)
	s.api.Measurements = metrics.ReadSettings(r)
	s.databaseURL = stores.ReadDatabaseURL(r)
	s.store = eventstore.ReadPlace(r)
	s.erasure = erasure.ReadSettings(r, "") // extra:erasure
	s.access = access.ReadSettings(r)       // extra:access
	s.access.ReadLive(r)                    // extra:access
	s.logging = program.ReadLogging(r)
	s.tracing = tracing.ReadSettings(r)
	return s
}

// run serves until ctx ends, then finishes the accepted queries. The log goes to stdout; its line with the message
// "listening" contains the address.
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
	db, err := database.Open(ctx, s.databaseURL, database.Settings{Tracer: traces.Provider(), Logger: log})
	if err != nil {
		return fmt.Errorf("DATABASE_URL: %w", err)
	}
	defer func() { _ = db.Close() }()
	store := eventstore.OpenLater(func(ctx context.Context) (*eventstore.Store, error) {
		return dynamo.Open(ctx, s.store, eventstore.Ports{Log: log, Tracer: traces.Provider()})
	})
	defer func() { err = errors.Join(err, store.Close(context.WithoutCancel(ctx))) }()
	keys, err := awskeys.OpenIn(ctx, s.erasure, store.Store) // extra:erasure {
	if err != nil {
		return err
	} // extra:erasure }
	letIn, err := access.Open(ctx, s.access, false, log) // extra:access {
	if err != nil {
		return err
	} // extra:access }
	server, err := readapi.Listen(ctx, s.api, db, store, log)
	if err != nil {
		return err
	}
	server.Tracer = traces.Tracer("http")
	server.Queries, server.Journals = keys.Reader(server.Queries), keys.Journals(server.Journals) // extra:erasure
	server.Schema = letIn.Schema(server.Schema)                                                   // extra:access
	letIn.Protect(server.Server)                                                                  // extra:access
	// extra:access,tenants {
	server.Around = append(server.Around, letIn.Tenants(server.IsActive))
	// extra:access,tenants }
	return program.Serve(ctx, log, server.URL(), server.Run,
		letIn.Run, // extra:access
	)
}
