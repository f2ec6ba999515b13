// Command write-api takes commands over HTTP and stores their events in the event store.
package main

import (
	"context"
	"errors"
	"io"

	"example.com/threads/cmd/internal/system"
	"example.com/threads/cmd/write-api/commands"
	"example.com/threads/extras/archive"          // extra:archive
	"example.com/threads/extras/erasure"          // extra:erasure
	"example.com/threads/extras/erasure/awskeys"  // extra:erasure
	"example.com/threads/extras/observe/awscalls" // extra:observe
	"example.com/threads/infrastructure/config"
	"example.com/threads/infrastructure/eventstore"
	"example.com/threads/infrastructure/eventstore/dynamo"
	"example.com/threads/infrastructure/program"
)

const about = `
Takes commands on chat threads over HTTP and stores their events in the event store. GET /docs on the running program
describes the API. SIGINT and SIGTERM end it when the accepted requests are answered, or after 8 s.
`

var run = program.With("write-api", about, readSettings, serve)

func main() { program.Main("write-api", run) }

type settings struct {
	address  string
	commands commands.Settings
	store    eventstore.Settings
	archive  archive.Folder   // extra:archive
	erasure  erasure.Settings // extra:erasure
	system   system.Settings
}

func readSettings(r *config.Reader) (s settings) {
	s.address = commands.ReadAddress(r)
	s.commands = commands.ReadSettings(r)
	s.store = eventstore.ReadSettings(r)
	s.store.ReadSnapshots(r)
	s.store.ReadClock(r)
	s.archive = archive.ReadFolder(r)       // extra:archive
	s.erasure = erasure.ReadSettings(r, "") // extra:erasure
	s.system = system.ReadSettings(r, "info", "json")
	s.system.Observe.ReadMetrics(r)     // extra:observe
	s.system.Access.BringsIssuer = true // extra:access
	return s
}

// serve works until ctx ends, then finishes the accepted requests. A line of the log, "listening", has the address.
func serve(ctx context.Context, s settings, stdout io.Writer) (err error) {
	parts := system.New(s.system, stdout)
	if err := parts.Open(ctx, "write-api", s.system); err != nil { // extra:access|observe {
		return err
	}
	defer parts.Close() // extra:access|observe }
	store, err := dynamo.OpenAny(
		ctx, s.store, parts.Log, parts.Tracer,
		awscalls.Observe(parts.Registry), // extra:observe
	)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close(context.WithoutCancel(ctx))) }()
	s.archive.Behind(store)                                                // extra:archive
	if parts.Keys, err = awskeys.Open(ctx, s.erasure, store); err != nil { // extra:erasure {
		return err
	} // extra:erasure }
	server, err := commands.Listen(ctx, s.address, s.commands, store, parts)
	if err != nil {
		return err
	}
	return program.Serve(
		ctx, parts.Log, server.URL(), server.Run,
		parts.Run, // extra:access|observe
	)
}
