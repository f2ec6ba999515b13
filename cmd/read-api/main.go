// Command read-api answers GraphQL queries and subscriptions from the read model.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"example.com/threads/cmd/internal/system"
	"example.com/threads/cmd/read-api/queries"
	"example.com/threads/es/database"
	"example.com/threads/extras/archive"          // extra:archive,history
	"example.com/threads/extras/erasure"          // extra:erasure
	"example.com/threads/extras/erasure/awskeys"  // extra:erasure
	"example.com/threads/extras/history"          // extra:history
	"example.com/threads/extras/observe/awscalls" // extra:observe
	"example.com/threads/extras/replica"          // extra:replica
	"example.com/threads/extras/tenants"          // extra:tenants
	"example.com/threads/infrastructure/config"
	"example.com/threads/infrastructure/eventstore"
	"example.com/threads/infrastructure/eventstore/dynamo"
	"example.com/threads/infrastructure/program"
)

const about = `
Answers GraphQL queries and subscriptions on chat threads at /graphql, from the read model. GET / is a page to try
queries on.
SIGINT and SIGTERM end it when the accepted queries are answered, or after 8 s; subscribers are told to reconnect.
`

var run = program.With("read-api", about, readSettings, serve)

func main() { program.Main("read-api", run) }

type settings struct {
	queries     queries.Settings
	databaseURL string
	store       eventstore.Settings // extra:history
	archive     archive.Folder      // extra:archive,history
	erasure     erasure.Settings    // extra:erasure
	system      system.Settings
}

func readSettings(r *config.Reader) (s settings) {
	s.queries = queries.ReadSettings(r)
	s.databaseURL = eventstore.ReadDatabaseURL(r)
	s.queries.Replica = replica.ReadSettings(r)  // extra:replica
	s.queries.Tenants = tenants.ReadDatabases(r) // extra:tenants {
	if !s.queries.Tenants.In(s.databaseURL)("") {
		r.Wrong("DATABASE_URL is in TENANT_DATABASES, but must be the database of all other tenants")
	} // extra:tenants }
	s.store = eventstore.ReadSettings(r.Group("History (extras/history)")) // extra:history
	s.archive = archive.ReadFolder(r)                                      // extra:archive,history
	s.erasure = erasure.ReadSettings(r, "")                                // extra:erasure
	s.system = system.ReadSettings(r, "info", "json")
	s.system.Observe.ReadMetrics(r) // extra:observe
	s.system.Access.ReadLive(r)     // extra:access
	return s
}

// serve works until ctx ends, then finishes the accepted queries. A line of the log, "listening", has the address.
func serve(ctx context.Context, s settings, stdout io.Writer) (err error) {
	parts := system.New(s.system, stdout)
	if err := parts.Open(ctx, "read-api", s.system); err != nil { // extra:access|observe {
		return err
	}
	defer parts.Close() // extra:access|observe }
	db, err := database.Open(ctx, s.databaseURL, database.Settings{Tracer: parts.Tracer, Logger: parts.Log})
	if err != nil {
		return fmt.Errorf("DATABASE_URL: %w", err)
	}
	defer func() { _ = db.Close() }()
	// extra:history {
	observed := awscalls.Observe(parts.Registry) // extra:observe
	store, closeStore := history.Later(func(ctx context.Context) (*eventstore.Store, error) {
		store, err := dynamo.OpenAny(
			ctx, s.store, parts.Log, parts.Tracer,
			observed, // extra:observe
		)
		s.archive.Behind(store) // extra:archive
		return store, err
	})
	defer func() { err = errors.Join(err, closeStore(context.WithoutCancel(ctx))) }()
	// extra:history }
	if parts.Keys, err = awskeys.OpenIn(ctx, s.erasure, store); err != nil { // extra:erasure {
		return err
	} // extra:erasure }
	server, err := queries.Listen(
		ctx, s.queries, db, parts,
		store, // extra:history
	)
	if err != nil {
		return err
	}
	return program.Serve(
		ctx, parts.Log, server.URL(), server.Run,
		parts.Run, // extra:access|observe
	)
}
