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

var usage = `Usage: write-api

Takes commands on chat threads over HTTP and puts their events into the event store. GET /docs on the running program
tells about the API. SIGINT and SIGTERM end it once the requests that it has accepted are answered.

Environment, with what holds where a variable is not set:
` + writeapi.Usage + program.LoggingUsage + eventstore.Usage + `
Exit code: 0 after a stop, 1 when something failed, 2 when the usage was wrong.
`

func main() { program.Main("write-api", run) }

// settings are what the environment says.
type settings struct {
	api     writeapi.Settings
	store   eventstore.Settings
	logging program.Logging
}

// readSettings reads all variables, or tells everything that is wrong with them.
func readSettings(getenv func(string) string) (settings, error) {
	reader := config.NewReader(getenv)
	s := settings{
		api:     writeapi.ReadSettings(reader),
		store:   eventstore.ReadSettings(reader),
		logging: program.ReadLogging(reader),
	}
	return s, reader.Err()
}

// run is the program: it serves until ctx ends, then finishes what it has accepted. Its log goes to stdout, and the line
// with the message "listening" tells the address.
func run(ctx context.Context, args []string, getenv func(string) string, stdout io.Writer) error {
	if helped, err := program.OnlyHelp("write-api", usage, args, stdout); helped || err != nil {
		return err
	}
	s, err := readSettings(getenv)
	if err != nil {
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
