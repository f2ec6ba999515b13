package main

import (
	"context"
	"fmt"
	"io"

	"example.com/threads/cmd/internal/program"
	"example.com/threads/cmd/internal/readapi"
	"example.com/threads/infrastructure/config"
	"example.com/threads/infrastructure/config/stores"
	"example.com/threads/infrastructure/database"
)

const about = `
Answers GraphQL queries and subscriptions on chat threads from the read model at /graphql; GET / is a page to try them on.
SIGINT and SIGTERM end it once the queries that it has accepted are answered; the clients of subscriptions are told to
connect again.

A WebSocket runs 100 operations at once. Browsers may open one from a page of this server's own origin only, so a proxy
before it has to pass the header Host on.
`

func main() { program.Main("read-api", run) }

// settings are what the environment says.
type settings struct {
	api         readapi.Settings
	databaseURL string
	logging     program.Logging
}

// readSettings reads them.
func readSettings(r *config.Reader) settings {
	return settings{
		api:         readapi.ReadSettings(r),
		databaseURL: stores.ReadDatabaseURL(r),
		logging:     program.ReadLogging(r),
	}
}

// run is the program: it serves until ctx ends, then finishes what it has accepted. Its log goes to stdout, and the line
// with the message "listening" tells the address.
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
	server, err := readapi.Listen(ctx, s.api, db, log)
	if err != nil {
		return err
	}
	log.InfoContext(ctx, "listening", "url", server.URL())
	err = server.Run(ctx)
	log.InfoContext(ctx, "stopped")
	return err
}
