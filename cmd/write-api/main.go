package main

import (
	"context"
	"errors"
	"io"

	"example.com/threads/cmd/internal/eventstore"
	"example.com/threads/cmd/internal/program"
	"example.com/threads/cmd/internal/writeapi"
	"example.com/threads/infrastructure/config"
)

const about = `
Takes commands on chat threads over HTTP and puts their events into the event store. GET /docs on the running program
tells about the API. SIGINT and SIGTERM end it once the requests that it has accepted are answered.
`

func main() { program.Main("write-api", run) }

// settings are what the environment says.
type settings struct {
	api     writeapi.Settings
	store   eventstore.Settings
	logging program.Logging
}

// readSettings reads them.
func readSettings(r *config.Reader) settings {
	return settings{
		api:     writeapi.ReadSettings(r),
		store:   eventstore.ReadSettings(r),
		logging: program.ReadLogging(r),
	}
}

// run is the program: it serves until ctx ends, then finishes what it has accepted. Its log goes to stdout, and the line
// with the message "listening" tells the address.
func run(ctx context.Context, args []string, getenv func(string) string, stdout io.Writer) error {
	s, helped, err := program.Settings("write-api", about, readSettings, args, getenv, stdout)
	if helped || err != nil {
		return err
	}
	log := s.logging.Logger(stdout)
	store, err := eventstore.Open(ctx, s.store, log, nil)
	if err != nil {
		return err
	}
	server, err := writeapi.Listen(ctx, s.api, store, log)
	if err != nil {
		return errors.Join(err, store.Close(ctx))
	}
	log.InfoContext(ctx, "listening", "url", server.URL())
	err = errors.Join(server.Run(ctx), store.Close(context.WithoutCancel(ctx)))
	log.InfoContext(ctx, "stopped")
	return err
}
