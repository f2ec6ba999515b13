package main

import (
	"context"
	"errors"
	"io"

	"example.com/threads/cmd/internal/eventstore"
	"example.com/threads/cmd/internal/eventstore/dynamo"
	"example.com/threads/cmd/internal/program"
	"example.com/threads/cmd/internal/writeapi"
	"example.com/threads/extras/access"          // extra:access
	"example.com/threads/extras/erasure"         // extra:erasure
	"example.com/threads/extras/erasure/awskeys" // extra:erasure
	"example.com/threads/extras/tenants"         // extra:tenants
	"example.com/threads/infrastructure/config"
	"example.com/threads/infrastructure/metrics"
	"example.com/threads/infrastructure/tracing"
)

const about = `
Takes commands on chat threads over HTTP and stores their events in the event store. GET /docs on the running program
describes the API. SIGINT and SIGTERM end it once the accepted requests are answered.
`

func main() { program.Main("write-api", run) }

// settings are read from the environment.
type settings struct {
	api     writeapi.Settings
	store   eventstore.Settings
	erasure erasure.Settings // extra:erasure
	access  access.Settings  // extra:access
	logging program.Logging
	tracing tracing.Settings
}

func readSettings(r *config.Reader) (s settings) {
	s.api = writeapi.ReadSettings(r)
	s.api.Measurements = metrics.ReadSettings(r)
	s.store = eventstore.ReadSettings(r)
	s.erasure = erasure.ReadSettings(r, "") // extra:erasure
	s.access = access.ReadSettings(r)       // extra:access
	s.logging = program.ReadLogging(r)
	s.tracing = tracing.ReadSettings(r)
	return s
}

// run serves until ctx ends, then finishes the accepted requests. The log goes to stdout; its line with the message
// "listening" contains the address.
func run(ctx context.Context, args []string, getenv func(string) string, stdout io.Writer) (err error) {
	s, helped, err := program.Settings("write-api", about, readSettings, args, getenv, stdout)
	if helped || err != nil {
		return err
	}
	log := s.logging.Logger(stdout)
	traces, err := tracing.Start(ctx, s.tracing, "write-api", log)
	if err != nil {
		return err
	}
	defer traces.Stop()
	store, err := dynamo.Open(ctx, s.store, eventstore.Ports{Log: log, Tracer: traces.Provider()})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close(context.WithoutCancel(ctx))) }()
	keys, err := awskeys.Open(ctx, s.erasure, store) // extra:erasure {
	if err != nil {
		return err
	} // extra:erasure }
	server, err := writeapi.Listen(ctx, s.api, store, log)
	if err != nil {
		return err
	}
	server.Tracer = traces.Tracer("http")
	server.Wrap = append(server.Wrap, keys.Commands(store.Gateway)) // extra:erasure
	server.Keys = keys                                              // extra:tasks
	letIn, err := access.Open(ctx, s.access, true, log)             // extra:access {
	if err != nil {
		return errors.Join(err, server.Close())
	}
	letIn.Protect(server.Server)
	server.Describe = append(server.Describe, letIn.Describe)                                   // extra:access }
	server.Around = append(server.Around, letIn.Tenants(tenants.InJournal(store.Gateway, log))) // extra:access,tenants
	return program.Serve(ctx, log, server.URL(), server.Run,
		letIn.Run, // extra:access
	)
}
