package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"

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
	usecase "example.com/threads/usecase/erasure"
)

const about = `
Answers GraphQL queries and subscriptions on chat threads from the read model at /graphql; GET / is a page to try them on.
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
}

// readSettings reads them.
func readSettings(r *config.Reader) (s settings) {
	s.api = readapi.ReadSettings(r)
	s.api.Measurements = measurements.ReadSettings(r)
	s.databaseURL = stores.ReadDatabaseURL(r)
	s.store = eventstore.ReadSettings(r)
	s.erasure = erasure.ReadSettings(r, "")
	s.access = access.ReadSettings(r)
	s.logging = program.ReadLogging(r)
	return s
}

// run is the program: it serves until ctx ends, then finishes what it has accepted. Its log goes to stdout, and the
// line with the message "listening" tells the address.
func run(ctx context.Context, args []string, getenv func(string) string, stdout io.Writer) error {
	s, helped, err := program.Settings("read-api", about, readSettings, args, getenv, stdout)
	if helped || err != nil {
		return err
	}
	log := s.logging.Logger(stdout)
	db, err := database.Open(ctx, s.databaseURL, database.Settings{Logger: log})
	if err != nil {
		return fmt.Errorf("DATABASE_URL: %w", err)
	}
	defer func() { _ = db.Close() }()
	keys, closeKeys, err := s.openKeys(ctx, log)
	if err != nil {
		return err
	}
	defer closeKeys()
	letIn, err := access.Open(ctx, s.access, false, log)
	if err != nil {
		return err
	}
	server, err := readapi.Listen(ctx, s.api, db, keys, letIn, log)
	if err != nil {
		return errors.Join(err, letIn.Close())
	}
	log.InfoContext(ctx, "listening", "url", server.URL())
	group, serving := errgroup.WithContext(ctx)
	group.Go(func() error { return letIn.Run(serving) })
	group.Go(func() error { return server.Run(serving) })
	err = group.Wait()
	log.InfoContext(ctx, "stopped")
	return err
}

// openKeys opens the keys of people's texts, which are beside the event store; nil where erasure is off.
func (s settings) openKeys(ctx context.Context, log *slog.Logger) (*usecase.Keyring, func(), error) {
	if !s.erasure.On {
		return nil, func() {}, nil
	}
	store, err := eventstore.Open(ctx, s.store, log, nil)
	if err != nil {
		return nil, nil, err
	}
	closeStore := func() { _ = store.Close(context.WithoutCancel(ctx)) }
	keys, err := erasure.Open(ctx, s.erasure, store)
	if err != nil {
		closeStore()
	}
	return keys, closeStore, err
}
